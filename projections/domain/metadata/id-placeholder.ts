import { isInline } from "./location.ts";

/** How a token's id is written for `{id}`: 64 digits of lower-case hex as ERC-1155 says, or decimal. */
export type IdForm = "hex" | "decimal";

/** Escaped or not, in any case. */
const placeholder = /(?:\{|%7b)id(?:\}|%7d)/gi;

/** Replaces `{id}` by the token's id. */
export function substituteId(uri: string, tokenId: bigint, form: IdForm = "hex"): string {
  return uri.replaceAll(
    placeholder,
    form === "hex" ? tokenId.toString(16).padStart(64, "0") : `${tokenId}`,
  );
}

/** A URI to try for a token, and the form in which it has its id. */
export type TokenUri = { uri: string; form: IdForm };

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

const ambiguousPlaceholder = /(?<!0x)(?:\{|%7b)id(?:\}|%7d)/i;
