//! Documents as other programs and older versions of a struct write them.

use odm::bson::{Bson, Document as BsonDocument, doc};

use crate::random::Random;

/// Changes a document once, anywhere but in its `_id`: a field is missing, null, of another number type, in another place
/// or unknown; a list is empty or has an element twice.
pub(super) fn mutate(random: &mut Random, document: &mut BsonDocument) {
    let names: Vec<String> = document.keys().cloned().collect();
    let fields: Vec<&String> = names.iter().filter(|name| *name != "_id").collect();
    if fields.is_empty() || random.one_in(8) {
        let value = random
            .pick(&[Bson::Null, 5.into(), "x".into(), doc! {"year": 1}.into()])
            .clone();
        let name = format!("unknown{}", random.below(3));
        document.insert(name, value);
        return;
    }
    let name = (*random.pick(&fields)).clone();
    match random.below(8) {
        0 => {
            document.remove(&name);
        }
        1 => {
            document.insert(name, Bson::Null);
        }
        2 => shuffle(random, document),
        _ => {
            if let Some(value) = document.get_mut(&name) {
                mutate_value(random, value);
            }
        }
    }
}

fn mutate_value(random: &mut Random, value: &mut Bson) {
    match value {
        Bson::Document(inner) => mutate(random, inner),
        Bson::Array(elements) => mutate_list(random, elements),
        value => *value = random.other_number(value).unwrap_or(Bson::Null),
    }
}

fn mutate_list(random: &mut Random, elements: &mut Vec<Bson>) {
    if elements.is_empty() {
        elements.push(random.pick(&[Bson::Null, 1_i64.into(), "x".into()]).clone());
        return;
    }
    let at = random.below(elements.len());
    match random.below(6) {
        0 => elements.clear(),
        1 => elements.push(elements[at].clone()),
        2 => elements[at] = Bson::Null,
        _ => mutate_value(random, &mut elements[at]),
    }
}

fn shuffle(random: &mut Random, document: &mut BsonDocument) {
    let mut left: Vec<(String, Bson)> = std::mem::take(document).into_iter().collect();
    while !left.is_empty() {
        let (name, value) = left.swap_remove(random.below(left.len()));
        document.insert(name, value);
    }
}
