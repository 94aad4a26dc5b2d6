# The program and the revision it was built from, for `bench --version`, and the runners that come with it. A wrapper, because a revision inside the
# program would rebuild it, and every job, with each commit.
{
  lib,
  runCommand,
  runtimeShell,
  bench,
  revision,
  # A folder of ready-made runners, where they come with the program.
  runners ? null,
}:
runCommand "${bench.pname}-${bench.version}-stamped"
  {
    inherit (bench) meta;
    wrapper = ''
      #!${runtimeShell}
      ${lib.optionalString (revision != null) "export TOUCHSTONE_REVISION=${revision}"}
      ${lib.optionalString (runners != null) "export TOUCHSTONE_RUNNERS=${runners}"}
      exec ${lib.getExe bench} "$@"
    '';
    passAsFile = [ "wrapper" ];
  }
  ''
    mkdir -p $out/bin
    cp "$wrapperPath" $out/bin/bench
    chmod 755 $out/bin/bench
    ln -s ${bench}/share $out/share
  ''
