//! The layout: four spaces a level, one node a line, one blank line at the most.

use super::token::Token;

/// One level.
const INDENT: &str = "    ";

/// Returns tokens as text.
pub(super) fn lay_out(tokens: &[Token<'_>]) -> String {
    let mut page = Page::default();
    for (index, token) in tokens.iter().enumerate() {
        page.add(*token, &tokens[index + 1..]);
    }
    page.end_line();
    page.text
}

/// What is written so far.
#[derive(Default)]
struct Page {
    text: String,
    line: String,
    depth: usize,
    /// Line ends since the last content.
    blank: usize,
    /// What the next word is glued to or parted from.
    last: Last,
    /// The node that the line holds is complete; only a comment or a block may follow on it.
    is_complete: bool,
    /// The line goes on from the one before.
    is_continued: bool,
    /// A block was opened that holds nothing.
    is_empty_block: bool,
}

/// What was written last on the line.
#[derive(Default, PartialEq, Eq, Clone, Copy)]
enum Last {
    /// Nothing.
    #[default]
    Nothing,
    /// Something after which a blank belongs.
    Parted,
    /// Something that the next word is glued to: `=`, `/-`.
    Glued,
}

impl Page {
    fn add(&mut self, token: Token<'_>, rest: &[Token<'_>]) {
        match token {
            Token::Newline => self.newline(),
            Token::Semicolon => self.is_complete = !self.line.is_empty(),
            Token::Word(word) => self.word(word),
            Token::Slashdash => {
                self.begin();
                self.push("/-");
                self.last = Last::Glued;
            }
            Token::Comment(comment) => self.push(comment),
            Token::Open => self.open(rest),
            Token::Close => self.close(),
            Token::Continuation => {
                self.push("\\");
                self.last = Last::Parted;
                self.is_continued = true;
            }
        }
    }

    /// Starts a new line where the node on this one is complete.
    fn begin(&mut self) {
        if self.is_complete {
            self.end_line();
        }
    }

    /// Writes a word; an `=` has no blanks around it.
    fn word(&mut self, word: &str) {
        self.begin();
        if word.starts_with('=') && self.last == Last::Parted {
            self.last = Last::Glued;
        }
        self.push(word);
        if word.ends_with('=') {
            self.last = Last::Glued;
        }
    }

    /// Writes something onto the line, with what belongs before it.
    fn push(&mut self, text: &str) {
        match self.last {
            Last::Nothing => {
                self.gap();
                let levels = self.depth + usize::from(self.is_continued);
                self.line.push_str(&INDENT.repeat(levels));
                self.is_continued = false;
            }
            Last::Parted => self.line.push(' '),
            Last::Glued => {}
        }
        self.line.push_str(text);
        self.last = Last::Parted;
    }

    /// Keeps one of the blank lines before this one, but none at the start of a file or block.
    fn gap(&mut self) {
        let after_open = self.text.is_empty() || self.text.ends_with("{\n");
        if self.blank > 1 && !after_open {
            self.text.push('\n');
        }
        self.blank = 0;
    }

    fn newline(&mut self) {
        if !self.is_empty_block {
            self.end_line();
            self.blank += 1;
        }
    }

    /// Ends the line, if anything stands on it.
    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.text.push_str(self.line.trim_end_matches(' '));
            self.text.push('\n');
            self.line.clear();
            self.blank = 0;
        }
        self.last = Last::Nothing;
        self.is_complete = false;
    }

    /// Writes `{` and goes one level in; an empty block stays on its line.
    fn open(&mut self, rest: &[Token<'_>]) {
        self.push("{");
        self.depth += 1;
        let is_empty = rest.iter().find(|token| **token != Token::Newline) == Some(&Token::Close);
        if is_empty {
            self.last = Last::Glued;
            self.is_empty_block = true;
        } else if !matches!(rest.first(), Some(Token::Comment(comment)) if comment.starts_with("//"))
        {
            self.end_line();
        }
    }

    /// Writes `}` one level out; a comment may follow on its line.
    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if !std::mem::take(&mut self.is_empty_block) {
            self.end_line();
            self.blank = 0;
        }
        self.push("}");
        self.is_complete = true;
    }
}
