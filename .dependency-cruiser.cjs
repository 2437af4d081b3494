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

/** From the lowest to the highest: a folder imports from its own layer and from lower ones. */
const layers = [["projections"], ["jobs"], ["api"], ["ops"]];

/** What a concept holds meets the others' in tables, and in the reads that they export by name. */
const concepts = [
  "activity",
  "analytics",
  "collections",
  "metadata",
  "orders",
  "partners",
  "prices",
  "sales",
  "tokens",
  "traits",
];
const projectionLayers = [
  ["domain"],
  ["log"],
  ["engine"],
  ["exchanges"],
  concepts,
  ["past"],
  ["all.ts"],
];
const apiLayers = [
  ["http"],
  ["reference"],
  ["keys"],
  ["accounts"],
  ["orders"],
  ["v1"],
  ["alchemy", "mcp", "opensea"],
  ["feed"],
  ["webhooks"],
  ["account"],
  ["pictures"],
  ["pages"],
  ["status"],
  ["app.ts", "routes.ts"],
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
      from: { path: "^(abis|api|chains|jobs|ops|projections|src|devnet)/" },
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
      name: "concepts-meet-in-tables-and-reads",
      comment:
        "a concept reads others' tables, and imports only the reads that they export by name",
      severity: "error",
      from: {
        path: `^projections/(${concepts.filter((name) => name !== "analytics").join("|")})/`,
        pathNot: "\\.test\\.ts$",
      },
      to: {
        path: `^projections/(${concepts.join("|")})/`,
        pathNot: ["^projections/$1/", "^projections/[a-z]+/(read|find|count)-[a-z-]+\\.ts$"],
      },
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
    ...upward("^", layers),
    ...upward("^api/", apiLayers),
    only(
      "http-knows-no-domain",
      "^api/http/",
      [
        "^api/http/",
        "^projections/(domain/rejection|engine/snapshot|log/(blocks|database|database-failure))\\.ts$",
        "^jobs/runner/limits\\.ts$",
      ],
      "HTTP is about requests and answers, not about orders and tokens",
    ),
    only(
      "the-service-stays-inside",
      "^(jobs|api|ops)/",
      [
        "^(jobs|api|ops)/",
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
    exclude: { path: "^(devnet/contracts/artifacts|sdk/dist|test/reliability/peers)/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: [".ts", ".mts", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default"],
    },
  },
};
