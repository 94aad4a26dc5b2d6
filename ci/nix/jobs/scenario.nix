# The jobs of one scenario: a derivation a batch, by the ids of its jobs; `all`, the run folder; `check`, the same if the
# gate says yes.
{
  pkgs,
  bench,
  plan,
}:
let
  inherit (pkgs) lib runCommand;
  root = ../../..;

  # A file of the repository by content: its store path changes with its bytes only.
  stored =
    path: digest:
    builtins.path (
      {
        name = lib.strings.sanitizeDerivationName (baseNameOf path);
        path = root + "/${path}";
        recursive = false;
      }
      // digest
    );
  place = how: path: file: ''
    mkdir -p root/${lib.escapeShellArg (dirOf path)}
    ${how} ${file} root/${lib.escapeShellArg path}
  '';

  # An input of a batch: evaluation fails where the plan was made for other bytes. A file that is in the store under this
  # digest is not read again, so checks/ hashes the files themselves.
  input = { path, sha256 }: place "ln -s" path (stored path { inherit sha256; });

  # What the results are put together with, whatever its bytes. A copy: a scenario behind a link would be found elsewhere
  # than below `root`.
  part = path: place "cp" path (stored path { });

  # A batch knows its own jobs and the files they read, no other job and not its place in the plan: what changes
  # elsewhere in the scenario does not rebuild it.
  result =
    batch:
    runCommand (lib.strings.sanitizeDerivationName "job-${batch.name}")
      {
        nativeBuildInputs = [ bench ];
        batch = builtins.toJSON batch;
        passAsFile = [ "batch" ];
      }
      ''
        mkdir root
        ${lib.concatMapStrings input batch.inputs}
        # A failed job has its report, which says so, as in `bench run`. What left no results has failed as a build.
        bench exec-batch "$batchPath" --root root --out $out --jobs "$NIX_BUILD_CORES" || [ -e $out/partial.json ]
      '';
  results = map (batch: {
    inherit batch;
    derivation = result batch;
  }) plan.batches;
  byJob = lib.concatMap (
    { batch, derivation }: map (job: lib.nameValuePair job.id derivation) batch.jobs
  ) results;

  assembled =
    name: whenJudged:
    runCommand "${plan.scenario}-${name}"
      {
        nativeBuildInputs = [ bench ];
        # Copying results to another machine costs more than putting them together.
        preferLocalBuild = true;
      }
      ''
        mkdir root
        ${lib.concatMapStrings part plan.assemble.paths}
        code=0
        bench merge --scenario root/${lib.escapeShellArg plan.assemble.file} --root root --runs runs --reproducible --planned \
          ${lib.concatMapStringsSep " " (result: "${result.derivation}") results} || code=$?
        # The folder is there whatever the gate says.
        mv "$(readlink --canonicalize-existing runs/${plan.scenario}/latest)" $out
        ${whenJudged}
      '';
in
lib.listToAttrs byJob
// {
  all = assembled "run" "";
  check = assembled "check" "[ $code = 0 ] || exit $code";
}
