/** The first that fits names the browser: most of them also pretend to be another. */
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

/** What a browser says of itself, in a few words. */
export function agentName(agent: string): string {
  const find = (of: typeof browsers) => of.find(([sign]) => sign.test(agent))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser === undefined) return agent.slice(0, 40) || "Unknown";
  return system === undefined ? browser : `${browser} on ${system}`;
}
