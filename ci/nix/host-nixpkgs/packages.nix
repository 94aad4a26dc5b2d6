# The packages of nixpkgs that the project uses, for one system.
{
  lib,
  host,
  system,
}:
let
  derivations = import ./derivation.nix { inherit lib host system; };
  rust = import ./rust.nix { inherit lib host derivations; };
  inherit (derivations) mkDerivation programs runCommand;

  # Calls a function, or a file that holds one, with the packages whose names it asks for.
  callPackage =
    function: arguments:
    let
      called = if builtins.isFunction function then function else import function;
      asked = builtins.intersectAttrs (builtins.functionArgs called) self;
    in
    called (asked // arguments);

  self = {
    inherit lib callPackage runCommand;
    stdenv = {
      hostPlatform = { inherit system; };
      buildPlatform.canExecute = platform: platform.system == system;
    };
    runtimeShell = host.bash;
    rustPlatform = rust.platform;
    cargo = rust.toolchain;
    rustc = rust.toolchain;
    clippy = rust.toolchain;
    rustfmt = rust.toolchain;
    bashInteractive = programs "host-bash" [ "bash" ]; # what `nix develop` starts
    cargo-nextest = programs "host-cargo-nextest" [ "cargo-nextest" ];
    nixfmt-tree = programs "host-nixfmt" [ "nixfmt" ];
    mkShell =
      arguments:
      mkDerivation (
        {
          name = "nix-shell";
        }
        // arguments
        // {
          packages =
            arguments.packages or [ ]
            ++ lib.concatMap (package: package.nativeBuildInputs) (arguments.inputsFrom or [ ]);
        }
      );
  };
in
self
