import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

const ports = new Set(["", "8443"]);

/**
 * Why an untrusted URL is not fetched; null if it is allowed. Host names are checked again when resolved. `URL` has
 * already normalised every notation of an IP address.
 */
export function urlRefusalReason(url: URL): string | null {
  if (url.protocol !== "https:") return `${url.protocol} is not allowed`;
  if (url.username !== "" || url.password !== "") return "credentials in a URL are not allowed";
  if (!ports.has(url.port)) return `port ${url.port} is not allowed`;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isPublicAddress(host)) return `${host} is not on the public internet`;
  return null;
}
