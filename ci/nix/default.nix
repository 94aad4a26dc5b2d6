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
  runners = import ./runners.nix {
    inherit (pkgs)
      lib
      rustPlatform
      runCommand
      callPackage
      ;
  };
  stamped = callPackage ./stamped.nix { inherit bench revision; };
  # The same with the runners of all pinned engines: compiling those takes minutes each.
  bench-with-runners = callPackage ./stamped.nix {
    inherit bench revision;
    runners = runners.all;
  };
  # Not by callPackage, which would add attributes of its own to sets that are listed.
  jobs = import ./jobs { inherit pkgs bench; };
in
{
  inherit
    bench
    stamped
    bench-with-runners
    runners
    jobs
    ;
  checks = import ./checks { inherit pkgs bench jobs sources; };

  app = {
    type = "app";
    program = lib.getExe stamped;
    meta.description = "Run a benchmark scenario, or any command of bench";
  };

  app-with-runners = {
    type = "app";
    program = lib.getExe bench-with-runners;
    meta.description = "The same, with the runners of the pinned upstream engines";
  };

  shell = callPackage ./shell.nix { inherit bench; };
  formatter = pkgs.nixfmt-tree;
}
