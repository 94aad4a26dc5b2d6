//! Where a job's settings stand: the declarations it was planned from, and the axes that vary them.

use crate::scenario::syntax::{Node, Place};

/// The declarations that a job was planned from, and the axes of its block.
#[derive(Debug)]
pub struct Origin {
    pub(super) workload: Node,
    pub(super) deployment: Node,
    /// The path of each axis, and where it stands.
    pub(super) axes: Vec<(String, Place)>,
}

/// A step of a path that stands for any role.
const ANY: &str = "*";

impl Origin {
    /// Returns where a setting is stated: by the axis that varies it, else where it stands in its declaration, else the nearest node
    /// around it.
    ///
    /// `setting` is a path as `vary` takes it; the role of a worker may be `*`, which is the first worker that states the setting.
    pub fn place(&self, setting: &str) -> Place {
        let steps: Vec<&str> = setting.split('.').collect();
        let varies = |path: &str| {
            let axis: Vec<&str> = path.split('.').collect();
            steps.iter().zip(&axis).all(|(step, axis)| step == axis || *step == ANY)
        };
        if let Some((_, place)) = self.axes.iter().find(|(path, _)| varies(path)) {
            return place.clone();
        }
        match steps.as_slice() {
            ["workload", rest @ ..] => nearest(&self.workload, rest).0,
            rest => nearest(&self.deployment, rest).0,
        }
    }

    /// Returns whether a setting is stated, or varied by an axis.
    pub(super) fn states(&self, setting: &str) -> bool {
        let steps: Vec<&str> = setting.split('.').collect();
        self.axes.iter().any(|(path, _)| path == setting)
            || match steps.as_slice() {
                ["workload", rest @ ..] => nearest(&self.workload, rest).1 == 0,
                rest => nearest(&self.deployment, rest).1 == 0,
            }
    }
}

/// Returns the place that a path leads to from a node, or how far it leads, and how many steps of it are left.
fn nearest(node: &Node, path: &[&str]) -> (Place, usize) {
    let here = || (node.head(), path.len());
    let [name, rest @ ..] = path else { return here() };
    if let Some(property) = node.props.iter().find(|property| property.name.text == *name) {
        return (property.value.place.clone(), rest.len());
    }
    let named = node.children.iter().filter(|child| child.name.text == *name);
    let role = rest.first().filter(|_| *name == "worker");
    let fits =
        |child: &&Node| role.is_none_or(|role| *role == ANY || child.first_text() == Some(role));
    let below = if role.is_some() { &rest[1..] } else { rest };
    named
        .filter(fits)
        .map(|child| nearest(child, below))
        .min_by_key(|(_, left)| *left)
        .unwrap_or_else(here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::SourceFile;
    use crate::scenario::syntax::parse;

    const TEXT: &str = "deployment \"d\" {\n    speculation \"mtp\" tokens=1\n    worker \"prefill\" {\n        scheduler max-sequences=1\n    }\n    worker \"decode\" {\n        kv-cache block-size=16 {\n            host-offload num-host-blocks=4\n        }\n    }\n}\nworkload \"w\" {\n    stop requests=1\n}\n";

    fn shown(setting: &str, axes: &[&str]) -> String {
        let source = SourceFile::new("a.kdl", TEXT);
        let document = parse(&source).expect("KDL");
        let (deployment, workload) = (document.nodes[0].clone(), document.nodes[1].clone());
        let axes = axes.iter().map(|path| ((*path).to_owned(), workload.place.clone())).collect();
        let place = Origin { workload, deployment, axes }.place(setting);
        let span = place.span();
        TEXT[span.offset()..span.offset() + span.length()].to_owned()
    }

    #[test]
    fn a_setting_stands_at_its_value_or_at_the_nearest_node_around_it() {
        for (setting, expected) in [
            ("speculation", "speculation \"mtp\""),
            ("speculation.tokens", "1"),
            ("router", "deployment \"d\""),
            ("worker.decode.kv-cache.host-offload", "host-offload"),
            ("worker.*.kv-cache.host-offload", "host-offload"),
            ("worker.decode.kv-cache.capacity", "kv-cache"),
            ("worker.prefill.kv-cache.capacity", "worker \"prefill\""),
            ("workload.stop.requests", "1"),
            ("workload.stop.virtual-time", "stop"),
        ] {
            assert_eq!(shown(setting, &[]), expected, "{setting}");
        }
    }

    #[test]
    fn only_what_the_file_or_an_axis_gives_is_stated() {
        let source = SourceFile::new("a.kdl", TEXT);
        let document = parse(&source).expect("KDL");
        let (deployment, workload) = (document.nodes[0].clone(), document.nodes[1].clone());
        let axes = vec![("worker.decode.speedup.ratio".to_owned(), workload.place.clone())];
        let origin = Origin { workload, deployment, axes };
        for stated in [
            "speculation",
            "speculation.tokens",
            "workload.stop.requests",
            "worker.decode.speedup.ratio",
        ] {
            assert!(origin.states(stated), "{stated}");
        }
        for absent in
            ["router", "speculation.seed", "worker.prefill.kv-cache", "workload.stop.sessions"]
        {
            assert!(!origin.states(absent), "{absent}");
        }
    }

    #[test]
    fn a_setting_that_an_axis_varies_stands_at_the_axis() {
        let axes = ["worker.decode.kv-cache.block-size"];
        assert!(shown("worker.*.kv-cache.block-size", &axes).starts_with("workload"));
        assert!(shown("worker.decode.kv-cache", &axes).starts_with("workload"));
        assert_eq!(shown("worker.decode.kv-cache.host-offload", &axes), "host-offload");
    }
}
