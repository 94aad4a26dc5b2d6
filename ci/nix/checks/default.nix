# `nix flake check`: everything about the project that needs no network and no clock.
{
  pkgs,
  bench,
  jobs,
  sources,
}:
let
  inherit (pkgs) lib callPackage;
  rust = callPackage ./rust.nix { inherit bench sources; };
  data = callPackage ./data.nix { inherit bench sources; };
  # The run folder that derivations give is the one that a process gives.
  equal = lib.mapAttrs' (
    scenario: set:
    lib.nameValuePair "jobs-${scenario}" (
      callPackage ./jobs.nix {
        inherit bench scenario;
        inherit (sources) data;
        assembled = set.all;
      }
    )
  ) jobs;
in
{
  inherit bench;
  inherit (rust) tests clippy fmt;
  inherit (data) scenarios pins plans;
}
// equal
