# The parts of the repository that derivations read. What a set leaves out can change without a rebuild.
{ lib }:
let
  root = ../..;
  set =
    paths:
    lib.fileset.toSource {
      inherit root;
      fileset = lib.fileset.unions paths;
    };
  # What is compiled: the sources, and the pins that the program carries (src/pin/bundle.rs).
  compiled = [
    (root + "/Cargo.toml")
    (root + "/Cargo.lock")
    (root + "/src")
    (root + "/pins/hardware")
    (root + "/pins/models")
    (lib.fileset.difference (root + "/pins/timing") (root + "/pins/timing/PROVENANCE.md"))
  ];
in
{
  # What the program is compiled from: no page, no trace, no scenario, no golden, no test of tests/.
  program = set compiled;

  # What the runner of a pin is compiled from, seen from pins/engines.
  runner =
    folder:
    lib.fileset.toSource {
      root = root + "/pins/engines";
      fileset = lib.fileset.unions [
        (root + "/pins/engines/${folder}/runner")
        (root + "/pins/engines/runners")
      ];
    };

  # What clippy and rustfmt look at. Unit tests include pages of docs/ and the rules of pins/audits.
  code = set (
    compiled
    ++ [
      (root + "/tests")
      (root + "/docs")
      (root + "/pins/audits")
      (root + "/ci/clippy.toml")
      (root + "/ci/rustfmt.toml")
    ]
  );

  # What the program runs on.
  data = set [
    (root + "/pins")
    (root + "/scenarios")
  ];

  # All of it: the tests read the scripts and the pages as well.
  everything = set [ root ];
}
