# What the project offers on one system.
{
  pkgs,
  # The git revision, where the sources have one. Only `stamped` knows it, so a commit rebuilds nothing else.
  revision,
}:
let
  inherit (pkgs) lib callPackage;
  sources = callPackage ./sources.nix { };
  bench = callPackage ./package.nix { };
  stamped = callPackage ./stamped.nix { inherit bench revision; };
  # Not by callPackage, which would add attributes of its own to sets that are listed.
  jobs = import ./jobs { inherit pkgs bench; };
in
{
  inherit bench stamped jobs;
  checks = import ./checks { inherit pkgs bench jobs sources; };

  app = {
    type = "app";
    program = lib.getExe stamped;
    meta.description = "Run a benchmark scenario, or any command of bench";
  };

  shell = callPackage ./shell.nix { inherit bench; };
  formatter = pkgs.nixfmt-tree;
}
