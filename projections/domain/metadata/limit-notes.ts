/** Notes kept of one document. */
const maxNotes = 8;

export type LimitNotes = ReturnType<typeof openLimitNotes>;

/** Collects what of a document is left out for a limit. */
export function openLimitNotes() {
  const notes = new Set<string>();
  return {
    add(note: string): void {
      if (notes.size < maxNotes) notes.add(note);
    },
    /** As one text; undefined: all of the document was taken. */
    text: (): string | undefined => (notes.size === 0 ? undefined : [...notes].join("; ")),
  };
}
