/**
 * What a terminal obeys instead of showing it, or shows in another order: control characters, whose sequences move the
 * cursor, clear the screen or set the title, and the marks of direction.
 */
const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const obeyedButLines = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const escaped = (one: string): string => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Text as a terminal only shows it, whoever wrote it: on one line, what it would obey as `\u001b`. */
export const terminalText = (text: string): string => text.replace(obeyed, escaped);

/** The same of text with lines and tabs of ours; JSON stays the same JSON. */
export const terminalLines = (text: string): string => text.replace(obeyedButLines, escaped);
