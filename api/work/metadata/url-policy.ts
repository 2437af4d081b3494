import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

const ports = new Set(["", "8443"]);

/**
 * Why an address that strangers chose is not asked, in words; null where nothing speaks against it. A host name is
 * looked at once more when it is resolved. `URL` has already turned every spelling of an IP address into the plain one.
 */
export function whyRefused(url: URL): string | null {
  if (url.protocol !== "https:") return `${url.protocol} is not fetched`;
  if (url.username !== "" || url.password !== "") return "an address with a user is not fetched";
  if (!ports.has(url.port)) return `port ${url.port} is not asked`;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isPublicAddress(host)) return `${host} is not on the public internet`;
  return null;
}
