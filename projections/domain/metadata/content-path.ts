/** The path of content behind any gateway: `ipfs/<cid>/…`, `ipns/<name>/…`, or of Arweave `<transaction>/…`. */
export type ContentPath = {
  kind: "ipfs" | "arweave";
  path: string;
  /** Whether the address is surely that of a gateway. Otherwise it may be a file that is named like content. */
  isSure: boolean;
};

/** Content ids in base58 (`Qm…`, `z…`), base32, base36 and base16. */
export const cid =
  "(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,110}|B[A-Z2-7]{50,110}|z[1-9A-HJ-NP-Za-km-z]{40,110}|k[0-9a-z]{45,110}|f[0-9a-f]{60,150}|F[0-9A-F]{60,150})";
const end = "(?=$|[/?#])";
/** `/ipfs/`, also doubled as `/ipfs/ipfs/` or `/ipfs/ipfs://`, with or without percent signs. */
const ipfsFolder = "/[iI][pP][fF][sS](?=[/:%])(?:/|:|%3[aA]|%2[fF]|[iI][pP][fF][sS](?=[/:%]|$))+";
const belowFolder = new RegExp(`${ipfsFolder}(${cid}${end}.*)$`, "s");
const belowNames = /^\/ipns\/+([^/?#]+.*)$/is;
/** `?arg=` of the interface that nodes have beside their gateway. */
const nodeCall = new RegExp(`^/api/v0/(?:cat|get)/?\\?(?:.*&)?arg=(?:/?ipfs/)?(${cid}[^&]*)`, "s");
const firstSegment = new RegExp(
  `^/+((?:Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{56})${end}.*)$`,
  "s",
);

const hostOfContent = new RegExp(`^(${cid})\\.ipfs\\.`, "i");
const hostOfName = /^([a-z0-9-]+)\.ipns\./i;
const hostLikeContent = /^(baf[a-z2-7]{56})\./;

const arweaveHost =
  /(?:^|\.)(?:arweave\.(?:net|dev)|ar-io\.(?:net|dev)|g8way\.io|permagate\.io|irys\.xyz)$/;
const transactionPath = new RegExp(`^/+(?:raw/|tx/)?([\\w-]{43})${end}(?:/data$)?(.*)$`, "s");
/** Gateways serve a transaction below its own id in base32. */
const sandbox = /^([a-z2-7]{52})\./;

/** Of paths that are longer nothing is looked for. */
const longestPath = 4_096;

/** The content that a web address names: `host` and `rest` (path and query) as written. Null where it names none. */
export function contentOnWeb(host: string, rest: string): ContentPath | null {
  if (rest.length > longestPath) return null;
  return ipfsOnWeb(host, rest) ?? arweaveOnWeb(host.toLowerCase(), rest);
}

type Reader = (host: string, rest: string) => ContentPath | null;

const ipfsReaders: readonly Reader[] = [
  (host, rest) => {
    const [, content] = hostOfContent.exec(host) ?? [];
    return content === undefined ? null : ipfs(`${caseOf(content)}${belowRoot(rest)}`);
  },
  (host, rest) => {
    const [, name] = hostOfName.exec(host) ?? [];
    return name === undefined ? null : ipfs(`${dnsName(name)}${belowRoot(rest)}`, "ipns");
  },
  (_, rest) => {
    const [, content] = belowFolder.exec(rest) ?? [];
    // Within a query it is another address that the host is asked about. After the id `?` may be part of a name.
    const isInPath = content !== undefined && !rest.slice(0, -content.length).includes("?");
    return isInPath ? ipfs(content) : null;
  },
  (_, rest) => {
    const [, name] = belowNames.exec(rest) ?? [];
    return name === undefined ? null : ipfs(name, "ipns");
  },
  (_, rest) => {
    const [, content] = nodeCall.exec(rest) ?? [];
    return content === undefined ? null : ipfs(content);
  },
  (host, rest) => {
    const [, label] = hostLikeContent.exec(host) ?? [];
    const content =
      label === undefined ? firstSegment.exec(rest)?.[1] : `${label}${belowRoot(rest)}`;
    return content === undefined ? null : { ...ipfs(content), isSure: false };
  },
];

function ipfsOnWeb(host: string, rest: string): ContentPath | null {
  for (const read of ipfsReaders) {
    const content = read(host, rest);
    if (content !== null) return content;
  }
  return null;
}

const ipfs = (path: string, folder: "ipfs" | "ipns" = "ipfs"): ContentPath => ({
  kind: "ipfs",
  path: `${folder}/${path}`,
  isSure: true,
});

/** In a host name letters lose their case, which ids in base58 need: browsers cannot use these, but people write them. */
const caseOf = (content: string) => (content.startsWith("Qm") ? content : content.toLowerCase());

const belowRoot = (rest: string) => (rest === "" || rest.startsWith("/") ? rest : `/${rest}`);

/** A name of DNS within one label: `-` for a dot, `--` for a dash. */
function dnsName(label: string): string {
  if (!label.includes("-")) return label;
  return label.replaceAll(/--|-/g, (dash) => (dash === "-" ? "." : "-"));
}

function arweaveOnWeb(host: string, rest: string): ContentPath | null {
  const [, label] = sandbox.exec(host) ?? [];
  const owner = label === undefined ? null : transactionOf(label);
  const [, transaction, below] = transactionPath.exec(rest) ?? [];
  const isKnownHost = arweaveHost.test(host.replace(/:\d+$/, ""));
  if (transaction !== undefined && (isKnownHost || transaction === owner)) {
    return { kind: "arweave", path: `${transaction}${below}`, isSure: true };
  }
  if (owner === null || !isKnownHost) return null;
  return { kind: "arweave", path: `${owner}${belowRoot(rest)}`, isSure: true };
}

const base32 = "abcdefghijklmnopqrstuvwxyz234567";

/** The transaction's id, 32 bytes in base64, of its base32 form. */
function transactionOf(label: string): string {
  const bits = [...label].map((one) => base32.indexOf(one).toString(2).padStart(5, "0")).join("");
  const bytes = Array.from({ length: 32 }, (_, at) =>
    Number.parseInt(bits.slice(at * 8, at * 8 + 8), 2),
  );
  return Buffer.from(bytes).toString("base64url");
}
