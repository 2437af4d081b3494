/** What strangers may read of a recorded failure as it is: it speaks of the document or of the contract. */
const plain = /^(?:the (?:document|contract's|data URI|URI)|[a-z][a-z0-9+.-]*: is not fetched$)/;

/** Of the others, which name hosts and addresses, this much is said. */
const phrases: readonly (readonly [pattern: RegExp, phrase: string])[] = [
  [/: (the document is HTML or XML, not JSON)$/, "$1"],
  [/^((?:token|contract)Uri left out: longer than \d+ characters)$/, "$1"],
  [/\bHTTP (\d{3})$/, "the host answered HTTP $1"],
  [/\btimeout$/, "the host did not answer in time"],
  [/\blarger than (\d+) bytes$/, "the document is larger than $1 bytes"],
  [
    /\bcontent-encoding ([a-z-]{1,10}) cannot be undone$/,
    "the document's $1 coding cannot be undone",
  ],
  [/\bmore than \d+ content codings$/, "the document has too many content codings"],
  [/\bredirect/, "the host redirects without end, or to an invalid address"],
  [
    /not on the public internet|not allowed|has no address/,
    "the address is not a public https address",
  ],
];

/**
 * An issue as recorded, in words for callers: without the hosts that were asked, which may be the operator's own, and
 * without the messages of libraries.
 */
export function statedIssue(issue: string): string {
  if (plain.test(issue)) return issue;
  return [...new Set(issue.split("; ").map(statedFault))].join("; ");
}

function statedFault(fault: string): string {
  for (const [pattern, phrase] of phrases) {
    const match = pattern.exec(fault);
    if (match !== null) return phrase.replace("$1", match[1] ?? "");
  }
  return "the host could not be reached";
}
