type Finding = { readonly message: string; readonly endpoints?: readonly string[] };

/** A finding without the hosts of nodes: an attacker who knows them stops the nodes instead of the service. */
export function maskFinding<Part extends Finding>(part: Part): Omit<Part, "endpoints"> & Finding {
  const { endpoints, ...others } = part;
  return { ...others, message: maskHosts(part.message, endpoints ?? []) };
}

/** The longest first: one host may be the end of another. */
export function maskHosts(message: string, hosts: readonly string[]): string {
  const longestFirst = hosts.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((text, host) => text.replaceAll(host, "a node"), message);
}
