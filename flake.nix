{
  description = "Touchstone: a reproducible benchmark harness for LLM inference";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "aarch64-darwin"
      ];
      # What the project offers, for one system; ci/nix/default.nix lists it.
      project =
        system:
        import ./ci/nix {
          pkgs = nixpkgs.legacyPackages.${system};
          revision = self.rev or self.dirtyRev or null;
        };
      each = output: nixpkgs.lib.genAttrs systems (system: output (project system));
    in
    {
      # `nix build`: the program, a function of its sources alone.
      packages = each (project: {
        inherit (project) bench stamped bench-with-runners;
        default = project.bench;
      });

      # `nix run`: the same program, told which revision it is.
      apps = each (project: {
        bench = project.app;
        bench-with-runners = project.app-with-runners;
        default = project.app;
      });

      # Not named `bench`: nixpkgs has a program of that name.
      overlays.default = final: _: {
        touchstone = final.callPackage ./ci/nix/package.nix { };
      };

      checks = each (project: project.checks);

      # `nix build .#jobs.smoke.all`: a scenario's jobs as derivations.
      # `nix build '.#runners."aisimulate-0.13.0"'`: the runner of a pinned engine; `all` is what TOUCHSTONE_RUNNERS names.
      legacyPackages = each (project: {
        inherit (project) jobs runners;
      });

      devShells = each (project: {
        default = project.shell;
      });

      formatter = each (project: project.formatter);
    };
}
