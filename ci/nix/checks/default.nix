# `nix flake check`: everything about the project that needs no network and no clock.
{
  callPackage,
  bench,
  sources,
}:
let
  rust = callPackage ./rust.nix { inherit bench sources; };
  data = callPackage ./data.nix { inherit bench sources; };
in
{
  checks = {
    inherit bench;
    inherit (rust) tests clippy fmt;
    inherit (data) scenarios pins;
  };
}
