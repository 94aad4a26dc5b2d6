# The program, in callPackage form: the same expression serves the flake, the overlay and the stand-in in host-nixpkgs.
{
  lib,
  stdenv,
  rustPlatform,
  rustc,
  callPackage,
}:
let
  manifest = (lib.importTOML ../../Cargo.toml).package;
  sources = callPackage ./sources.nix { };
in
assert lib.assertMsg (lib.versionAtLeast rustc.version manifest.rust-version)
  "${manifest.name} needs rustc ${manifest.rust-version}, nixpkgs has ${rustc.version}";
rustPlatform.buildRustPackage {
  pname = manifest.name;
  inherit (manifest) version;

  src = sources.program;
  cargoLock.lockFile = ../../Cargo.lock;
  strictDeps = true;

  # The tests are a derivation of their own (checks/): they need pins, scenarios and pages, and whoever
  # only runs a scenario compiles one profile, not two.
  doCheck = false;

  # The program writes its own pages, where it can be run.
  postInstall = lib.optionalString (stdenv.buildPlatform.canExecute stdenv.hostPlatform) ''
    mkdir -p $out/share/man/man1 $out/share/bash-completion/completions $out/share/zsh/site-functions \
      $out/share/fish/vendor_completions.d
    $out/bin/bench man > $out/share/man/man1/bench.1
    $out/bin/bench completions bash > $out/share/bash-completion/completions/bench
    $out/bin/bench completions zsh > $out/share/zsh/site-functions/_bench
    $out/bin/bench completions fish > $out/share/fish/vendor_completions.d/bench.fish
  '';

  meta = {
    inherit (manifest) description;
    license = lib.licenses.asl20;
    mainProgram = "bench";
    platforms = lib.platforms.unix;
  };
}
