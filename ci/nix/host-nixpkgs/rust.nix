# rustPlatform over the machine's toolchain and the crates that `cargo fetch --locked` left.
{
  lib,
  host,
  derivations,
}:
let
  inherit (derivations) mkDerivation runCommand;

  # `rustc -vV` is part of the derivation: another compiler is another toolchain, and everything is built anew.
  toolchain = mkDerivation {
    name = "host-rust";
    identity = host.rustc;
    inherit (host) sysroot;
    script = ''
      mkdir -p $out/bin
      for tool in cargo rustc rustdoc rustfmt cargo-fmt cargo-clippy clippy-driver; do
        if [ -x "$sysroot/bin/$tool" ]; then ln -s "$sysroot/bin/$tool" $out/bin/; fi
      done
      $out/bin/rustc --version
    '';
    passthru = { inherit (host) version; };
    meta.mainProgram = "cargo";
  };

  # A crate, as nixpkgs' importCargoLock has it: same name, same digest, hence the same store path. Nix checks the digest.
  fetchCrate =
    crate:
    mkDerivation {
      name = "crate-${crate.name}-${crate.version}.tar.gz";
      outputHashMode = "flat";
      outputHashAlgo = "sha256";
      outputHash = crate.checksum;
      inherit (host) crates;
      preferLocalBuild = true;
      script = ''
        for archive in "$crates"/*/${crate.name}-${crate.version}.crate; do
          if [ -f "$archive" ]; then cp "$archive" $out; exit 0; fi
        done
        echo "no ${crate.name}-${crate.version}.crate below $crates: \`cargo fetch --locked\` fetches it" >&2
        exit 1
      '';
    };

  importCargoLock =
    { lockFile }:
    let
      crates = lib.filter (package: package ? source) (lib.importTOML lockFile).package;
      unpack = crate: ''
        tar -xzf ${fetchCrate crate} -C $out
        printf '{"files":{},"package":"${crate.checksum}"}' > $out/${crate.name}-${crate.version}/.cargo-checksum.json
      '';
    in
    runCommand "cargo-vendor-dir" { preferLocalBuild = true; } ''
      mkdir -p $out/.cargo
      ${lib.concatMapStrings unpack crates}
      cat > $out/.cargo/config.toml <<END
      [source.crates-io]
      replace-with = "vendored-sources"
      [source.vendored-sources]
      directory = "$out"
      END
    '';

  buildPhase = ''
    cargo build --release --offline --locked -j "$NIX_BUILD_CORES"
  '';

  installPhase = ''
    mkdir -p $out/bin
    find target/release -maxdepth 1 -type f -executable ! -name '*.so' -exec install -m755 -t $out/bin {} +
    strip $out/bin/*
  '';

  buildRustPackage =
    arguments:
    let
      cargoDeps = importCargoLock arguments.cargoLock;
    in
    mkDerivation (
      removeAttrs arguments [
        "buildPhase"
        "cargoLock"
        "installPhase"
        "postInstall"
      ]
      // {
        inherit cargoDeps;
        nativeBuildInputs = (arguments.nativeBuildInputs or [ ]) ++ [ toolchain ];
        script = ''
          runHook() { :; }
          cp -r $src "$NIX_BUILD_TOP/source"
          chmod -R u+w "$NIX_BUILD_TOP/source"
          cd "$NIX_BUILD_TOP/source"
          export CARGO_HOME="$NIX_BUILD_TOP/cargo-home" CARGO_INCREMENTAL=0 CARGO_BUILD_JOBS="$NIX_BUILD_CORES"
          mkdir -p "$CARGO_HOME"
          cp $cargoDeps/.cargo/config.toml "$CARGO_HOME/config.toml"
          # Neither the folder of this build nor the store enters the program.
          export RUSTFLAGS="--remap-path-prefix=$NIX_BUILD_TOP=/build --remap-path-prefix=$cargoDeps=/vendor"
          ${lib.optionalString (arguments ? buildAndTestSubdir) ''
            export CARGO_TARGET_DIR="$PWD/target"
            cd ${arguments.buildAndTestSubdir}
          ''}
          ${arguments.buildPhase or buildPhase}
          cd "$NIX_BUILD_TOP/source"
          ${arguments.installPhase or installPhase}
          ${arguments.postInstall or ""}
        '';
      }
    );
in
{
  inherit toolchain;
  platform = { inherit buildRustPackage importCargoLock; };
}
