/** Whether a host, as it is written in settings or URLs, is this machine alone. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
