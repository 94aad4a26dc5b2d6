# The sources: every test (unit, black-box, tests/tidy, documentation), clippy, rustfmt.
{
  rustPlatform,
  clippy,
  rustfmt,
  bench,
  sources,
}:
let
  # One cargo command over some of the sources; the output says only that it passed.
  check =
    name:
    {
      src,
      command,
      tools ? [ ],
    }:
    rustPlatform.buildRustPackage {
      pname = "${bench.pname}-${name}";
      inherit (bench) version;
      inherit src;
      cargoLock.lockFile = ../../../Cargo.lock;
      strictDeps = true;
      nativeBuildInputs = tools;
      # Most of the time goes into compiling; the simulator is fast enough unoptimised for what the tests ask of it.
      env = {
        CARGO_PROFILE_DEV_DEBUG = "false";
        CARGO_PROFILE_DEV_OPT_LEVEL = "0";
      };
      buildPhase = ''
        runHook preBuild
        ${command}
        runHook postBuild
      '';
      doCheck = false;
      installPhase = "touch $out";
      meta = {
        inherit (bench.meta) license platforms;
        description = "${bench.pname}: ${name}";
      };
    };
in
{
  tests = check "tests" {
    src = sources.everything;
    command = "sh ci/test.sh";
  };
  clippy = check "clippy" {
    src = sources.code;
    tools = [ clippy ];
    command = ''CLIPPY_CONF_DIR="$PWD/ci" cargo clippy --offline --locked --all-targets -- -D warnings'';
  };
  fmt = check "fmt" {
    src = sources.code;
    tools = [ rustfmt ];
    command = "cargo fmt --all --check -- --config-path ci";
  };
}
