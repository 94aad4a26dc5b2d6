# A stand-in for nixpkgs that builds with the programs of this machine. Started by ../with-host-nixpkgs, never directly.
#
# It offers the attributes that ../../../flake.nix uses and no more, over /usr/bin and the toolchain that `rustc` leads to.
# What it builds is not hermetic: it shows that the expressions hold, and is nothing to install or publish.
{
  description = "The attributes of nixpkgs that Touchstone uses, over the programs of this machine";

  outputs =
    { self }:
    let
      lib = import ./lib.nix;
      # Written by ../with-host-nixpkgs: which tools these are, so that other tools give other derivations.
      host = lib.importJSON ./host.json;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "aarch64-darwin"
      ];
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs systems (system: import ./packages.nix { inherit lib host system; });
    };
}
