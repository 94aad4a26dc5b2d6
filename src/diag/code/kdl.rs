//! Files in KDL: scenarios, pins, goldens.

use crate::diag::declare::area;

area! {
    ($) kdl;

    KdlSyntax "kdl::syntax" Error "The file is not KDL 2."
        "The text does not parse as KDL 2.0. The label points at the first place of a line that does not fit; mend it and run again.";
    KdlVersion1 "kdl::version_1" Error "The file is KDL 1."
        "KDL 2 writes keywords with `#` (`#true`, `#null`) and raw strings as `#\"…\"#`; KDL 1 wrote `true`, `null` and `r\"…\"`. Touchstone reads KDL 2 only, because the two give one text two meanings. Rewrite the places shown.";
    KdlUnquoted "kdl::unquoted" Error "A version, digest or text needs quotes."
        "A bare word may not begin with a digit, so `0.13.0` and most digests are no words in KDL. Put the value in quotes; a digest may also be written `sha256:<64 hex>` without them.";
    KdlTooDeep "kdl::too_deep" Error "Blocks are nested too deeply."
        "No file of this language needs more than a few levels of `{ … }`. A file with dozens is damaged or hostile, and is refused before it is parsed.";
    KdlTypeAnnotation "kdl::type_annotation" Error "A type annotation means nothing here."
        "KDL allows `(u8)1`. The types of this language are fixed by its table of nodes, so an annotation could only contradict it. Remove it.";
    KdlUnformattable "kdl::unformattable" Error "The file cannot be formatted without changing it."
        "The formatter changes white space and `;` only, and proves it for every file: same text otherwise, same document, nothing left to change. For this file one of the proofs fails, so it was left as it is. Comments inside of values are the usual reason.";
    KdlWrite "kdl::write" Error "A file cannot be written."
        "`bench fmt` and `bench pin` write a new file beside the old one and put it in its place. The message says what the system answered.";
    KdlUnknownNode "kdl::unknown_node" Error "No node of this name exists here."
        "The name may be misspelt, belong into another block, or come from a newer version of `bench`; the help says which is likely. All nodes are in docs/scenario.md.";
    KdlMisplacedNode "kdl::misplaced_node" Error "The node belongs into another block."
        "The node exists, but not in this block. Move it to where the help says.";
    KdlUnknownProperty "kdl::unknown_property" Error "The node has no property of this name."
        "The name may be misspelt, belong to another kind of the same node, or be a node of its own; the help says which is likely.";
    KdlUnknownValue "kdl::unknown_value" Error "The word is none of those allowed here."
        "Some values are one of a few words. The help lists them.";
    KdlDuplicateProperty "kdl::duplicate_property" Error "A property is given twice."
        "KDL lets the last one win in silence. Two values for one property are a mistake in a file that is reviewed, so both places are shown; keep one.";
    KdlDuplicateNode "kdl::duplicate_node" Error "A node that stands once is given twice."
        "The block may hold one node of this name. Both places are shown; merge them or keep one.";
    KdlDuplicateName "kdl::duplicate_name" Error "Two nodes of one kind share a name."
        "References are by name, so a name stands for one thing. Both places are shown; rename one.";
    KdlMissingArgument "kdl::missing_argument" Error "The node lacks an argument."
        "The node needs a value after its name. The help shows its form.";
    KdlSurplusArgument "kdl::surplus_argument" Error "The node has too many arguments."
        "A value is left over that the node has no meaning for. The help shows its form; values with a name are written `name=value`.";
    KdlMissingProperty "kdl::missing_property" Error "The node lacks a property."
        "The property has no default, because no default could be right for everyone.";
    KdlMissingNode "kdl::missing_node" Error "The block lacks a node."
        "The node has no default, because no default could be right for everyone.";
    KdlWrongType "kdl::wrong_type" Error "The value has the wrong type."
        "KDL has strings, numbers, `#true`, `#false` and `#null`. The message says which was found and which is needed.";
    KdlNotWhole "kdl::not_whole" Error "A count is not a whole number."
        "Tokens, requests, replicas and the like are counted. Write a whole number without a decimal point or exponent.";
    KdlOutOfRange "kdl::out_of_range" Error "A number is out of range."
        "The message says what the least or the greatest value is.";
    KdlNotFinite "kdl::not_finite" Error "A number is not finite."
        "`#inf`, `#-inf`, `#nan`, and decimals beyond the range of a 64-bit float such as `1e400` (which KDL reads as infinity) are refused: no result could be computed from them. Where nothing should be limited, leave the property out.";
    KdlUnderflow "kdl::underflow" Error "A number is too small to be held."
        "The decimal is not zero but a 64-bit float would read it as zero. Write `0`, or a number above 1e-300.";
    KdlBareVersion "kdl::bare_version" Error "A version is written as a number."
        "KDL reads `1.10` as the number 1.1, so a version written without quotes loses its zeros. Write it in quotes.";
    KdlDuration "kdl::duration" Error "A duration has no unit, or an unknown one."
        "Durations are strings of a number and a unit: `\"250ms\"`, `\"60s\"`, `\"5m\"`, `\"1h\"`.";
    KdlDigest "kdl::digest" Error "A digest is not 64 hexadecimal digits."
        "A SHA-256 digest is written `\"<64 hex>\"` or, as a bare word, `sha256:<64 hex>`, in lower case. `bench pin FILE` fills in missing ones.";
    KdlName "kdl::name" Error "A name holds a character that it may not."
        "Names become parts of job ids and file names. They begin with a letter or digit and go on with letters, digits, `.`, `_` and `-`.";
}

pub(super) use kdl;
