# The scenarios whose simulation jobs are derivations: one `bench plan FILE --format nix-json` each, beside this file.
# The list of jobs is data, so nothing is built to know it (no import-from-derivation).
{ pkgs, bench }:
let
  inherit (pkgs) lib;
  plans = lib.filterAttrs (name: _: lib.hasSuffix ".json" name) (builtins.readDir ./.);
  scenario =
    file:
    import ./scenario.nix {
      inherit pkgs bench;
      plan = lib.importJSON (./. + "/${file}");
    };
in
lib.mapAttrs' (
  file: _: lib.nameValuePair (lib.removeSuffix ".json" file) (scenario file)
) plans
