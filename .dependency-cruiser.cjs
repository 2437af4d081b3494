/** The direction of imports. Data flows one way: chain → log → projections → api; all may read `chains/`. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from, pathNot: "\\.test\\.ts$" },
  to: {
    pathNot: [
      ...allowed,
      "node_modules",
      "^node:",
      "^(fs|path|os|net|http|https|dns|crypto|child_process|diagnostics_channel|url|util|events|stream|timers|module|worker_threads|assert|zlib|buffer|perf_hooks|process|readline|tty|v8)(/|$)",
    ],
  },
});

/** Folders of projections/ that hold one projection each. */
const projections = [
  "activity",
  "bids",
  "coin-prices",
  "collection-stats",
  "collections",
  "cross-listings",
  "floors",
  "listings",
  "metadata",
  "ownership",
  "sales",
  "traits",
];

/** Layers from the lowest to the highest: a folder imports from its own layer and from lower ones. */
const projectionLayers = [
  ["domain"],
  ["database.ts", "database-failure.ts", "introspection.ts", "named-lock.ts"],
  ["log"],
  ["facts"],
  ["sql"],
  ["engine"],
  ["exchanges", "order-state", "chain-readings"],
  projections,
  ["reads", "partner-sync", "royalty-sync"],
  ["all.ts"],
];
const serveLayers = [
  ["http", "html"],
  ["reference"],
  ["keys"],
  ["accounts"],
  ["views"],
  ["feed"],
  ["v1"],
  ["nft-data"],
  ["developers"],
  ["pages", "site"],
  ["status"],
  ["app.ts"],
];

/** One rule per layer: it imports nothing of the layers above it. */
function upward(root, layers) {
  const pathOf = (names) =>
    `${root}(${names.map((name) => (name.endsWith(".ts") ? name.replace(".", "\\.") : `${name}/`)).join("|")})`;
  return layers.slice(0, -1).map((layer, index) => ({
    name: `${layer[0].replace(".ts", "")}-imports-downward`,
    comment: `${layer.join(", ")}: nothing above it in ${root}`,
    severity: "error",
    from: { path: pathOf(layer), pathNot: "\\.(test|fixture)\\.ts$" },
    to: { path: pathOf(layers.slice(index + 1).flat()) },
  }));
}

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-mutual-folders",
      comment:
        "two folders that import each other are one folder, or one of them holds what is not its own",
      scope: "folder",
      severity: "error",
      from: { path: "^(abis|api|chains|projections|src|devnet)/" },
      to: { circular: true },
    },
    {
      name: "no-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^ponder[:/]" },
    },
    only("abis-stand-alone", "^abis/", ["^abis/"], "abis are data"),
    only(
      "chains-are-data",
      "^chains/",
      ["^chains/", "^abis/"],
      "a chain's file needs contracts only",
    ),
    only(
      "src-decodes-only",
      "^(src/|ponder\\.)",
      ["^src/", "^abis/", "^projections/(domain|exchanges)/", "^ponder[.:/]"],
      "Ponder's handlers record raw events",
    ),
    ...upward("^projections/", projectionLayers),
    {
      name: "projections-meet-in-tables",
      comment:
        "a projection reads others' tables, never their code, so that each can be rebuilt alone",
      severity: "error",
      from: { path: `^projections/(${projections.join("|")})/`, pathNot: "\\.test\\.ts$" },
      to: { path: `^projections/(${projections.join("|")})/`, pathNot: "^projections/$1/" },
    },
    only(
      "projections-know-no-api",
      "^projections/",
      ["^projections/", "^abis/", "^chains/"],
      "projections read no network, environment or clock",
    ),
    {
      name: "projections-do-no-io",
      comment: "projections read no clock, network or environment",
      severity: "error",
      from: { path: "^projections/", pathNot: "\\.test\\.ts$" },
      to: { path: "^(express|undici|ponder|hono|http|https|net|child_process)$" },
    },
    ...upward("^api/", [["config.ts", "context.ts"], ["background"], ["serve"], ["run"]]),
    ...upward("^api/", serveLayers),
    only(
      "http-knows-no-domain",
      "^api/serve/http/",
      [
        "^api/serve/http/",
        "^projections/(domain/rejection|database|database-failure|engine/(data-version|snapshot)|log/read-log-head)\\.ts$",
      ],
      "HTTP is about requests and answers, not about orders and tokens",
    ),
    only(
      "api-stays-inside",
      "^api/",
      [
        "^api/",
        "^projections/",
        "^abis/",
        "^chains/",
        "^ponder\\.schema\\.ts$",
        "^src/settings\\.ts$",
      ],
      "nothing imports devnet, test or what Ponder runs but its settings",
    ),
    only(
      "sdk-stands-alone",
      "^sdk/src/",
      ["^sdk/src/"],
      "what is published needs nothing of the service",
    ),
    only(
      "document-reads-the-api",
      "^sdk/document/",
      ["^sdk/document/", "^api/", "^chains/"],
      "the published document is the one that is served",
    ),
    only(
      "devnet-stands-beside",
      "^devnet/",
      ["^devnet/", "^abis/", "^chains/", "^projections/domain/"],
      "local chains are a stand-in for the outside world",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(devnet/contracts/artifacts|sdk/dist)/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: [".ts", ".mts", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default"],
    },
  },
};
