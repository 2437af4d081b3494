import { contracts } from "#devnet/contracts/addresses.ts";
import { collectionRegistered } from "#projections/collections/facts.ts";
import type { Observation } from "#projections/log/append.ts";
import { contractMetadataFetched, tokenMetadataFetched } from "#projections/metadata/facts.ts";
import { chainId } from "./served-market-data.ts";

type Attack = {
  readonly name?: string;
  readonly description?: string;
  readonly image?: string;
  readonly animation?: string;
  readonly attributes?: readonly { trait_type: string; value: string | number }[];
};

const script = "window.attacked = true";
const svg = (text: string) =>
  `data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">${text}</svg>`).toString("base64")}`;
const word = "W".repeat(10_000);

/** What a stranger's token may say of itself, by what it tries. */
export const attacks: Readonly<Record<string, Attack>> = {
  "a script in the name": { name: `<script>${script}</script>` },
  "a script in the description": { description: `</p><script>${script}</script>` },
  "an image with a handler": { name: `<img src=x onerror="${script}">` },
  "an end of an attribute": { name: `"><svg onload="${script}">` },
  "an end of an attribute in single quotes": { name: `'><body onload='${script}'>` },
  "a handler for an attribute": { name: `" onmouseover="${script}" autofocus onfocus="${script}` },
  "an end of the title": { name: `</title><script>${script}</script>` },
  "an end of the style": { name: `</style><style>body{display:none}</style>` },
  "a comment": { name: `<!--` },
  "a refresh": { name: `<meta http-equiv="refresh" content="0;url=https://evil.example/">` },
  "another base": { name: `<base href="https://evil.example/">` },
  "a form": { name: `</form><form action="https://evil.example/"><button autofocus>` },
  "a frame": { description: `<iframe srcdoc="<script>parent.attacked=true</script>"></iframe>` },
  "an entity": { name: `&lt;script&gt;${script}&lt;/script&gt;` },
  "a template": { name: `\${attacked=1}{{attacked=1}}<%= attacked %>` },
  "text from right to left": { name: `\u202Egnp.exe\u202C evil` },
  "an isolate that does not end": { name: `\u2067\u2067\u2067 reversed` },
  "only marks": { name: `\u200B\u200E\u200F\u2060\uFEFF` },
  "a word of 10,000 letters": { name: word, description: word },
  "marks upon marks": { name: `Z${"\u0310\u0334\u0489".repeat(2_000)}` },
  controls: { name: `a\u0001\u0007\u001b[31m\u0085b` },
  "half a character": { name: `broken \ud83d` },
  "a javascript link": { image: `javascript:${script}`, animation: `javascript:${script}` },
  "a document as an image": { image: `data:text/html,<script>${script}</script>` },
  "a script in an SVG": { image: svg(`<script>${script}</script><rect width="9" height="9"/>`) },
  "a handler in an SVG": { image: svg(`<g onload="${script}"><rect width="9" height="9"/></g>`) },
  "a foreign object in an SVG": {
    image: svg(
      `<foreignObject width="9" height="9"><body xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></body></foreignObject>`,
    ),
  },
  "a billion pixels": {
    image: svg(`<rect width="9" height="9"/>`).replace(
      "viewBox",
      "width='31623' height='31623' viewBox",
    ),
  },
  "a billion pixels in a PNG": {
    image: `data:image/png;base64,${Buffer.from("89504e470d0a1a0a0000000d4948445200007b8700007b8708060000009d41a2a50000000a49444154789c63000100000500010d0a2db40000000049454e44ae426082", "hex").toString("base64")}`,
  },
  "an image without a scheme": { image: "//evil.example/x.png" },
  "credentials in an image": { image: "https://user:password@evil.example/x.png" },
  "an image of the visitor's network": { image: "http://192.168.0.1/admin?reboot" },
  "markup in attributes": {
    attributes: [
      { trait_type: `<script>${script}</script>`, value: `"><img src=x onerror="${script}">` },
      { trait_type: "__proto__", value: "constructor" },
      { trait_type: "[x]&y=z#", value: "a&traits[Fur]=b" },
    ],
  },
  "two thousand attributes": {
    attributes: Array.from({ length: 2_000 }, (_, index) => ({
      trait_type: `type ${index}`,
      value: `value ${index}`,
    })),
  },
};

const chain = `chainId=${chainId}`;
const sent = (text: string) => encodeURIComponent(text);
const markup = sent(`"><script>${script}</script><img src=x onerror="${script}">`);
const long = "W".repeat(3_000);

/** What a link to a page may say, by what it tries. */
export const hostileRequests: readonly (readonly [name: string, path: string])[] = [
  ["markup in a search", `/search?${chain}&q=${markup}`],
  ["marks of direction in a search", `/search?${chain}&q=${sent("\u202Eevil\u2067 name")}`],
  ["a name of ENS with markup", `/search?${chain}&q=${sent(`<b>${script}</b>.eth`)}`],
  ["a name of ENS that looks like another", `/search?${chain}&q=${sent("vit\u0430lik.eth")}`],
  ["a word of 3,000 letters in a search", `/search?${chain}&q=${long}`],
  ["a search that is a list", `/search?${chain}&q[]=a&q[]=b&q[x]=c`],
  ["markup in a filter by trait", `/collections/punks?${chain}&traits[${markup}]=${markup}`],
  ["a trait of every object", `/collections/punks?${chain}&traits[__proto__]=constructor`],
  ["markup in a price", `/collections/punks?${chain}&min_price=${markup}&max_price=${long}`],
  ["markup in a marketplace", `/collections/punks?${chain}&marketplace=${markup}`],
  ["markup in a view", `/collections/punks?${chain}&view=${markup}&sort=${markup}`],
  ["a view of every object", `/collections/punks?${chain}&view=__proto__`],
  ["markup in a cursor", `/activity?${chain}&cursor=${markup}`],
  ["markup in a kind of activity", `/activity?${chain}&type=${markup}`],
  ["markup in a chain", `/?chainId=${markup}`],
  ["markup in a period", `/?${chain}&period=${markup}&sort=${markup}&exclude_wash=${markup}`],
  ["markup in a slug", `/collections/${markup}?${chain}`],
  ["markup in a token id", `/collections/punks/tokens/${markup}?${chain}`],
  ["a token id of 3,000 digits", `/collections/punks/tokens/${"9".repeat(3_000)}?${chain}`],
  ["markup in a wallet", `/wallets/${markup}?${chain}`],
  ["markup in a listing", `/listings/${markup}?${chain}`],
  ["markup in a path", `/${markup}`],
  ["a way out of the folder", `/assets/site/..%2f..%2f..%2fpackage.json`],
];

/** Tokens of `contract` from id 1 on, each with one attack, and a collection that tries some of them itself. */
export function hostileCollection(firstId: number): Observation[] {
  const contract = contracts.punks;
  const recordedAt = new Date();
  const name = `<script>${script}</script>\u202E${"W".repeat(300)}`;
  const slug = "punks";
  return [
    collectionRegistered({
      chainId,
      primary: contract,
      payload: { slug, name, verified: true, primary: contract, contracts: [contract] },
      replaces: 1n,
      recordedAt,
    }),
    contractMetadataFetched({ chainId, contract, recordedAt, after: 1n }, "ipfs://punks", {
      name,
      description: `</p><script>${script}</script>${word}`,
      image: `javascript:${script}`,
      banner: null,
      website: `javascript:${script}`,
      twitter: `https://x.com/"><script>${script}</script>`,
      discord: "data:text/html,x",
    }),
    ...Object.values(attacks).map((attack, index) =>
      tokenMetadataFetched(
        { chainId, contract, tokenId: BigInt(firstId + index), recordedAt, after: 1n },
        `https://evil.example/<script>${index}`,
        {
          name: attack.name?.toWellFormed() ?? `Token ${index}`,
          description: attack.description ?? null,
          image: attack.image ?? null,
          animation: attack.animation ?? null,
          contentType: null,
          attributes: [...(attack.attributes ?? [])],
        },
      ),
    ),
  ];
}
