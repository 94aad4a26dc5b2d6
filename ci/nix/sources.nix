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
  manifest = [
    (root + "/Cargo.toml")
    (root + "/Cargo.lock")
  ];
in
{
  # What the program is compiled from: no page, no pin, no scenario, no test of tests/.
  program = set (manifest ++ [ (root + "/src") ]);

  # What clippy and rustfmt look at. Unit tests include pages of docs/.
  code = set (
    manifest
    ++ [
      (root + "/src")
      (root + "/tests")
      (root + "/docs")
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
