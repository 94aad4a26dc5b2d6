# The runners of pinned upstream engines: each is a package of its own lock file, and a folder of all of them is what
# TOUCHSTONE_RUNNERS names. Nobody who runs scenarios of the simulator itself builds one.
{
  lib,
  rustPlatform,
  runCommand,
  callPackage,
}:
let
  sources = callPackage ./sources.nix { };
  engines = ../../pins/engines;
  # The folders of pins that have a runner.
  folders = lib.filter (folder: builtins.pathExists (engines + "/${folder}/runner/Cargo.lock")) (
    lib.attrNames (builtins.readDir engines)
  );

  runner =
    folder:
    rustPlatform.buildRustPackage rec {
      pname = "touchstone-runner-${folder}";
      inherit ((lib.importTOML (engines + "/${folder}/runner/Cargo.toml")).package) version;

      # The package, and what the runners of one engine share: it is named by a path that leads out of the package.
      src = sources.runner folder;
      cargoRoot = "${folder}/runner";
      buildAndTestSubdir = cargoRoot;
      cargoLock.lockFile = engines + "/${folder}/runner/Cargo.lock";
      strictDeps = true;
      doCheck = false; # conformance is `bench parity` and the tests of `bench`

      meta = {
        description = "The program that runs jobs on ${folder} for Touchstone";
        license = lib.licenses.asl20;
        mainProgram = "runner";
        platforms = lib.platforms.unix;
      };
    };
  each = lib.genAttrs folders runner;
in
each
// {
  all = runCommand "touchstone-runners" { } (
    lib.concatMapStrings (folder: ''
      mkdir -p "$out/${folder}"
      ln -s ${lib.getExe each.${folder}} "$out/${folder}/runner"
    '') folders
  );
}
