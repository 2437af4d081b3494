/** The path of content behind any gateway: `ipfs/<cid>/…`, `ipns/<name>/…`, or of Arweave `<transaction>/…`. */
type ContentPath = {
  kind: "ipfs" | "arweave";
  path: string;
  /** Whether the address is surely that of a gateway. Otherwise it may be a file that is named like content. */
  isSure: boolean;
};

/** Content ids in base58 (`Qm…`, `z…`), base32, base36 and base16. */
const cid =
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
function contentOnWeb(host: string, rest: string): ContentPath | null {
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

/** Where a document is: in the URI itself, behind a gateway, or at a web address. */
export type Location =
  | { kind: "data"; mediaType: string; charset?: string; bytes: Uint8Array }
  /** `path`: `ipfs/<cid>/…` or `ipns/<name>/…`. */
  | { kind: "ipfs"; path: string }
  /** `path`: `<transaction>/…`. */
  | { kind: "arweave"; path: string }
  /** `content`, `ipfsPath`: the same content behind any gateway. */
  | { kind: "web"; url: URL; content: ContentPath | null; ipfsPath: string | null };

/** `ipfs://`, with one slash or none, also repeated, or before another address. */
const ipfsUri = /^ipfs:(?:\/+|ipfs:|ipfs\/+)*([^/].*)$/is;
/** As browsers and nodes have named content: `dweb:/ipfs/<cid>`. */
const webOfContent = /^(?:web\+)?(?:dweb|fs):\/*(.*)$/is;
const ipnsUri = /^ipns:\/*(?:ipns\/+)*([^/].*)$/is;
const arweaveUri = /^(ar|arweave):\/*(?:ar:\/+)?(.*)$/is;
const transaction = /^[\w-]{43}(?:[/?#].*)?$/s;
const barePath = new RegExp(`^[./]*(?:[iI][pP][fF][sS]/+)*(${cid}(?:[/?#].*)?)$`, "s");
const bareName = /^\/*ipns\/+([^/].*)$/is;
const webUri = /^(?:https?:)?\/{2,}([^/?#\\]*)(.*)$/is;
/** A host's name with a path, without a scheme. */
const bareHost = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]+(?::\d{1,5})?\//i;

/** Where a URI points to, or a message why nothing can be fetched from it. */
export function locate(uri: string): Location | string {
  const text = trimUri(uri);
  if (/^data:/i.test(text)) return readDataUri(text);
  // Some contracts return the document itself.
  if (text.startsWith("{")) {
    return { kind: "data", mediaType: "application/json", bytes: Buffer.from(text) };
  }
  return locateContent(text) ?? locateOnWeb(text);
}

/** Whether a URI holds the document itself. */
export const isInline = (uri: string): boolean => /^[\s\p{Cc}\p{Cf}]*(?:data:|\{)/iu.test(uri);

/** Without space, NUL, invisible characters before it and quotes around it, which contracts return with their text. */
function trimUri(uri: string): string {
  const text = uri
    .replace(/^[\s\p{Cc}\p{Cf}]+/u, "")
    .trimEnd()
    .replace(/\0+$/, "");
  return /^"[^"]*"$|^'[^']*'$/.test(text) ? text.slice(1, -1).trim() : text;
}

function locateContent(text: string): Location | string | null {
  const [, ipfs] = ipfsUri.exec(text) ?? [];
  if (ipfs !== undefined) return locateBehindScheme(ipfs);
  const [, path = text] = webOfContent.exec(text) ?? [];
  const [, bare] = barePath.exec(path) ?? [];
  if (bare !== undefined) return { kind: "ipfs", path: `ipfs/${bare}` };
  const [, ipns] = ipnsUri.exec(text) ?? bareName.exec(path) ?? [];
  if (ipns !== undefined) return { kind: "ipfs", path: `ipns/${ipns}` };
  const [, scheme = "", id = ""] = arweaveUri.exec(text) ?? [];
  if (scheme === "") return null;
  if (transaction.test(id)) return { kind: "arweave", path: id };
  const { content } = asWeb(id) ?? {};
  if (content?.kind === "arweave") return { kind: "arweave", path: content.path };
  return `${scheme.toLowerCase()}: is not fetched`;
}

/** After `ipfs://` some write the address of a gateway. */
function locateBehindScheme(rest: string): Location {
  const isContent = barePath.test(rest);
  const web = isContent ? null : asWeb(rest);
  if (web?.content?.isSure) return { kind: web.content.kind, path: web.content.path };
  const [, ipns] = isContent ? [] : (bareName.exec(rest) ?? []);
  return { kind: "ipfs", path: ipns === undefined ? `ipfs/${rest}` : `ipns/${ipns}` };
}

function locateOnWeb(text: string): Location | string {
  const web = asWeb(text);
  if (web !== null) return web;
  if (!URL.canParse(text)) return text === "" ? "the URI is empty" : "the URI is invalid";
  return `${new URL(text).protocol} is not fetched`;
}

/** Null for what is no web address, with or without its scheme. */
function asWeb(text: string): Extract<Location, { kind: "web" }> | null {
  const isBare = bareHost.test(text) || text.startsWith("//");
  const address = isBare ? `https://${text.replace(/^\/+/, "")}` : text;
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return null;
  const [, host = "", rest = ""] = webUri.exec(address) ?? [];
  const content = contentOnWeb(host.replace(/^.*@/, ""), rest);
  const ipfsPath = content?.kind === "ipfs" ? content.path : null;
  return { kind: "web", url: new URL(address), content, ipfsPath };
}

/** RFC 2397 with the deviations that contracts use: unescaped characters are accepted, `;utf8` is ignored. */
function readDataUri(text: string): Location | string {
  const comma = text.indexOf(",");
  if (comma === -1) return "the data URI has no data";
  const [mediaType = "", ...parameters] = text
    .slice("data:".length, comma)
    .toLowerCase()
    .split(";");
  const raw = unescapePercents(text.slice(comma + 1));
  const isBase64 = parameters.some((one) => one.trim() === "base64");
  // Some say base64 and write the document as it is.
  const isPlain = /^\s*[{<]/.test(raw.toString("latin1", 0, 16));
  const bytes = isBase64 && !isPlain ? Buffer.from(raw.toString("latin1"), "base64") : raw;
  if (bytes.length === 0) return "the data URI has no data";
  const charset = parameters.map((one) => /^\s*charset=(.*)$/.exec(one)?.[1]).find(Boolean);
  const type = mediaType.trim() || "text/plain";
  return { kind: "data", mediaType: type, ...(charset && { charset }), bytes };
}

/** A percent sign that is not an escape is literal. */
function unescapePercents(text: string): Buffer {
  const parts = text.split(/((?:%[0-9a-fA-F]{2})+)/);
  const bytes = parts.map((part, index) =>
    index % 2 === 1 ? Buffer.from(part.replaceAll("%", ""), "hex") : Buffer.from(part),
  );
  return Buffer.concat(bytes);
}

/** How a token's id is written for `{id}`: 64 digits of lower-case hex as ERC-1155 says, or decimal. */
export type IdForm = "hex" | "decimal";

/** Escaped or not, also twice, in any case, with or without space. */
const placeholderText = "(?:\\{|%(?:25)?7b)(?:\\s|%20){0,4}id(?:\\s|%20){0,4}(?:\\}|%(?:25)?7d)";
const placeholder = new RegExp(placeholderText, "gi");

/** Replaces `{id}` by the token's id. */
export function substituteId(uri: string, tokenId: bigint, form: IdForm = "hex"): string {
  return uri.replaceAll(
    placeholder,
    form === "hex" ? tokenId.toString(16).padStart(64, "0") : `${tokenId}`,
  );
}

/** A URI to try for a token, and the form in which it has its id. */
type TokenUri = { uri: string; form: IdForm };

/**
 * The URIs that a contract's answer stands for, in the order to try. Only ERC-1155 defines `{id}`; ERC-721 contracts that
 * return it too mean that form or, as often, the names that other ERC-721 documents have. What follows `0x` is hex. A
 * document in the URI itself is a template with ERC-1155 only.
 */
export function tokenUrisOf(answer: string, tokenId: bigint, standard: 721 | 1155): TokenUri[] {
  if (standard === 721 && isInline(answer)) return [{ uri: answer, form: "hex" }];
  const forms: IdForm[] =
    standard === 721 && ambiguousPlaceholder.test(answer) ? ["hex", "decimal"] : ["hex"];
  return forms.map((form) => ({ uri: substituteId(answer, tokenId, form), form }));
}

const ambiguousPlaceholder = new RegExp(`(?<!0x)${placeholderText}`, "i");

/** File types before which nothing else ends, so that `?` and `#` after them begin a query and a fragment. */
const fileType =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|svg|mp4|webm|mov|mp3|wav|ogg|glb|gltf|html?|json|pdf|txt|js)$/i;
const endsInType = /\.[a-z][a-z0-9]{1,4}$/i;

/**
 * The URL of content behind a gateway: the only writer of such links. `path` is as people write it (`ipfs/<cid>/Ape
 * #1.png`): escapes stay, other `%`, `#` and `?` of names are escaped. Null if the path leads out of the gateway's own.
 */
export function gatewayUrl(gateway: string, path: string): URL | null {
  const root = `${gateway.replace(/\/(?:ipfs\/?)?$/, "")}/`;
  const { name, query, fragment } = partsOf(path);
  const escaped = name
    .replaceAll(/%(?![0-9a-f]{2})/gi, "%25")
    .replaceAll("?", "%3F")
    .replaceAll("#", "%23");
  if (!URL.canParse(root + escaped + query + fragment)) return null;
  const url = new URL(root + escaped + query + fragment);
  const { origin, pathname } = new URL(root);
  const below = `${pathname}${escaped.split("/")[0]}/`;
  return url.origin === origin && `${url.pathname}/`.startsWith(below) ? url : null;
}

type Parts = { name: string; query: string; fragment: string };

/** What is a name, and what a query or a fragment for the file: both signs also occur in names (`Ape #1.png`, `Why?`). */
function partsOf(path: string): Parts {
  const hash = separatorIn(path, "#", () => false);
  const [before, fragment] = hash === -1 ? [path, ""] : [path.slice(0, hash), path.slice(hash)];
  const mark = separatorIn(before, "?", (after) => /^[\w.~-]+=/.test(after));
  return mark === -1
    ? { name: before, query: "", fragment }
    : { name: before.slice(0, mark), query: before.slice(mark), fragment };
}

/** Where the first such sign separates; -1: it does not. */
function separatorIn(path: string, sign: string, separates: (after: string) => boolean): number {
  const at = path.indexOf(sign);
  if (at === -1) return -1;
  const after = path.slice(at + 1);
  const isAfterFile =
    fileType.test(path.slice(0, at).split("?")[0] ?? "") && !endsInType.test(after);
  return isAfterFile || separates(after) ? at : -1;
}
