//! Laws of the canonical writer over generated values.

use proptest::prelude::*;

use super::canonical::{Real, Value};

/// Generates values without reals (which `serde_json` reads back as its own number type; they have their own law).
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<u64>().prop_map(|number| Value::Integer(i128::from(number))),
        any::<i64>().prop_map(|number| Value::Integer(i128::from(number))),
        any::<String>().prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::List),
            prop::collection::btree_map(any::<String>(), inner, 0..8).prop_map(Value::Object),
        ]
    })
}

/// Returns what another reader makes of a value.
fn reread(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => {
            let wide = number.as_u64().map(i128::from).or(number.as_i64().map(i128::from));
            Value::Integer(wide.expect("only integers are generated"))
        }
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(reread).collect()),
        serde_json::Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, item)| (key.clone(), reread(item))).collect())
        }
    }
}

proptest! {
    #[test]
    fn another_reader_reads_back_what_was_written(value in values()) {
        let bytes = value.to_document();
        let read: serde_json::Value = serde_json::from_slice(&bytes).expect("valid JSON");
        prop_assert_eq!(reread(&read), value);
    }

    #[test]
    fn the_order_of_insertion_does_not_reach_the_bytes(
        fields in prop::collection::btree_map(any::<String>(), values(), 0..10),
        seed in any::<u64>(),
    ) {
        let mut shuffled: Vec<_> = fields.clone().into_iter().collect();
        shuffled.sort_by_key(|(key, _)| super::Sha256::of(format!("{seed}{key}").as_bytes()));
        let permuted = Value::Object(shuffled.into_iter().collect());
        prop_assert_eq!(Value::Object(fields).to_bytes(), permuted.to_bytes());
    }

    #[test]
    fn different_values_have_different_digests(a in values(), b in values()) {
        prop_assert_eq!(a == b, a.digest() == b.digest());
    }

    #[test]
    fn seeds_next_to_each_other_beyond_two_to_the_53_differ(seed in (1_u64 << 53)..u64::MAX) {
        prop_assert_ne!(Value::wide(seed).to_bytes(), Value::wide(seed + 1).to_bytes());
    }

    #[test]
    fn a_real_reads_back_to_the_same_bits(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        match Real::new(number) {
            Ok(real) => {
                let text = super::canonical::real_text(real);
                let back: f64 = text.parse().expect("a number");
                prop_assert_eq!(back.to_bits(), (number + 0.0).to_bits(), "{}", text);
            }
            Err(_) => prop_assert!(!number.is_finite()),
        }
    }
}
