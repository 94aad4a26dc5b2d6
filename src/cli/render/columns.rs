//! Columns of plain text: the same bytes whatever the terminal.

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Texts.
    Left,
    /// Numbers.
    Right,
}

/// Returns rows as aligned columns, two blanks apart, without trailing blanks. Columns beyond `aligns` are as the last of it.
pub(crate) fn columns(rows: &[Vec<String>], aligns: &[Align]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |cell: &String| cell.chars().count();
    let widths: Vec<usize> = (0..count)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(width_of).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let start = text.len();
        for (column, cell) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - width_of(cell));
            let align = aligns.get(column).or(aligns.last()).copied().unwrap_or(Align::Left);
            let gap = if column == 0 { "" } else { "  " };
            let parts = match align {
                Align::Left => [gap, cell, &blanks],
                Align::Right => [gap, &blanks, cell],
            };
            text.extend(parts);
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_and_lines_end_without_blanks() {
        let rows = [vec!["a", "1"], vec!["bcd", "22"], vec!["e", ""]]
            .map(|row| row.into_iter().map(str::to_owned).collect::<Vec<String>>());
        assert_eq!(columns(&rows, &[Align::Left, Align::Right]), "a     1\nbcd  22\ne\n");
        assert_eq!(columns(&[], &[Align::Left]), "");
    }
}
