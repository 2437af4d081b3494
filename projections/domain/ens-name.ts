import { type Rejection, reject } from "./rejection.ts";

const label = /^[a-z0-9-]+$/;
export const maxNameLength = 255;

/**
 * A name in the form that is resolved: lower case, two or more labels of ASCII letters, digits and hyphens, none with
 * hyphens in third and fourth position (reserved by ENSIP-15), 255 characters in all. Each label costs two hashes and a
 * call of the registry, and contracts tell names too.
 */
export function parseEnsName(text: string): { name: string } | Rejection<"unsupported_name"> {
  if (text.length > maxNameLength) return unsupported(`at most ${maxNameLength} characters`);
  // Checked before lower-casing: some non-ASCII letters have ASCII lower-case forms (the Kelvin sign's is k).
  if (!/^[\x21-\x7e]+$/.test(text)) return unsupported("only ASCII letters, digits and hyphens");
  const name = text.toLowerCase();
  const labels = name.split(".");
  if (labels.length < 2) return unsupported("at least two labels, as in alice.eth");
  if (!labels.every((one) => label.test(one))) {
    return unsupported("only ASCII letters, digits and hyphens between its dots");
  }
  if (labels.some((one) => one.slice(2, 4) === "--")) {
    return unsupported("no label with hyphens in third and fourth position");
  }
  return { name };
}

function unsupported(expected: string): Rejection<"unsupported_name"> {
  const message = `a name that is resolved has ${expected}`;
  return reject("unsupported_name", `name: ${message}`, [{ field: "name", expected, message }]);
}
