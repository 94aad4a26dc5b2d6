# The functions of nixpkgs' lib that the project uses: same names, same meaning.
let
  inherit (builtins)
    attrNames
    concatStringsSep
    filter
    isList
    isPath
    listToAttrs
    map
    readFile
    replaceStrings
    stringLength
    substring
    ;
in
rec {
  inherit (builtins)
    attrNames
    concatMap
    concatStringsSep
    filter
    head
    listToAttrs
    mapAttrs
    ;

  # Attribute sets
  nameValuePair = name: value: { inherit name value; };
  genAttrs = names: value: listToAttrs (map (name: nameValuePair name (value name)) names);
  mapAttrsToList = pair: set: map (name: pair name set.${name}) (attrNames set);
  mapAttrs' = pair: set: listToAttrs (mapAttrsToList pair set);
  filterAttrs =
    wanted: set: removeAttrs set (filter (name: !wanted name set.${name}) (attrNames set));
  optionalAttrs = condition: set: if condition then set else { };

  # Lists
  unique = builtins.foldl' (known: item: if builtins.elem item known then known else known ++ [ item ]) [ ];

  # Texts
  optionalString = condition: text: if condition then text else "";
  concatStrings = concatStringsSep "";
  concatMapStrings = text: list: concatStrings (map text list);
  concatMapStringsSep =
    separator: text: list:
    concatStringsSep separator (map text list);
  hasPrefix = prefix: text: substring 0 (stringLength prefix) text == prefix;
  hasSuffix =
    suffix: text:
    let
      rest = stringLength text - stringLength suffix;
    in
    rest >= 0 && substring rest (stringLength suffix) text == suffix;
  removeSuffix =
    suffix: text:
    if hasSuffix suffix text then substring 0 (stringLength text - stringLength suffix) text else text;
  escapeShellArg = text: "'${replaceStrings [ "'" ] [ "'\\''" ] (toString text)}'";
  versionAtLeast = version: least: builtins.compareVersions version least >= 0;
  strings.sanitizeDerivationName =
    text:
    let
      parts = builtins.split "[^[:alnum:]+._?=-]+" text;
    in
    substring 0 207 (concatMapStrings (part: if isList part then "-" else part) parts);

  # Files
  importTOML = path: fromTOML (readFile path);
  importJSON = path: builtins.fromJSON (readFile path);

  # lib.fileset: a set knows which files are in it, and which folders lead to some. A path stands for all below it.
  fileset =
    let
      isIn = path: folder: path == folder || hasPrefix "${folder}/" path;
      setOf =
        set:
        if isPath set then
          {
            holds = path: isIn path (toString set);
            leads = path: hasPrefix "${path}/" (toString set);
          }
        else
          set;
      anyOf = test: sets: path: builtins.any (set: set.${test} path) sets;
    in
    {
      unions = sets: {
        holds = anyOf "holds" (map setOf sets);
        leads = anyOf "leads" (map setOf sets);
      };
      difference = set: without: {
        holds = path: (setOf set).holds path && !(setOf without).holds path;
        inherit (setOf set) leads;
      };
      toSource =
        { root, fileset }:
        {
          outPath = builtins.path {
            name = "source";
            path = root;
            filter =
              path: type:
              (setOf fileset).holds path || (type == "directory" && (setOf fileset).leads path);
          };
        };
    };

  # Packages
  assertMsg = condition: message: if condition then true else throw message;
  getExe = package: "${package}/bin/${package.meta.mainProgram}";
  makeBinPath = concatMapStringsSep ":" (package: "${package}/bin");
  licenses.asl20.spdxId = "Apache-2.0";
  platforms = {
    linux = [
      "x86_64-linux"
      "aarch64-linux"
    ];
    darwin = [ "aarch64-darwin" ];
    unix = platforms.linux ++ platforms.darwin;
  };
}
