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
      # How far dependencies are optimised: the tests hash and decompress, clippy runs none of them.
      optimise ? "0",
      tools ? [ ],
    }:
    rustPlatform.buildRustPackage {
      pname = "${bench.pname}-${name}";
      inherit (bench) version;
      inherit src;
      cargoLock.lockFile = ../../../Cargo.lock;
      strictDeps = true;
      nativeBuildInputs = tools;
      # Nearly all of the time goes into compiling: optimise no more than what the command runs, and keep no debug information.
      buildPhase = ''
        runHook preBuild
        mkdir -p ../.cargo
        cat >> ../.cargo/config.toml <<'END'
        [profile.dev]
        opt-level = 0
        debug = false
        [profile.dev.package."*"]
        opt-level = ${optimise}
        debug = false
        END
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
    optimise = "1";
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
