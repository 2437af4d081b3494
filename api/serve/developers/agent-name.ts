/** In this order: most browsers' user agents also contain the names of others. */
const browsers: readonly [sign: RegExp, name: string][] = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/(Firefox|FxiOS)\//, "Firefox"],
  [/(Chrom(e|ium)|CriOS|HeadlessChrome)\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const systems: readonly [sign: RegExp, name: string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** A short name for a user agent: browser and operating system. */
export function agentName(agent: string): string {
  const find = (of: typeof browsers) => of.find(([sign]) => sign.test(agent))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser === undefined) return agent.slice(0, 40) || "Unknown";
  return system === undefined ? browser : `${browser} on ${system}`;
}
