import { index, onchainTable, primaryKey, relations } from "ponder";

// Columns that may be null, and tables without a handler, hold what our API tells beyond events. The benchmark of lists
// fills them, so that GraphQL can be asked for the same facts: one row away, as who builds on Ponder would store them.

/** ERC-721 tokens with their owner. */
export const token = onchainTable(
  "token",
  (column) => ({
    collection: column.hex().notNull(),
    tokenId: column.bigint().notNull(),
    owner: column.hex().notNull(),
    isBurned: column.boolean().notNull(),
    standard: column.integer(),
    holders: column.bigint(),
    supply: column.bigint(),
    rank: column.integer(),
    score: column.real(),
    ranked: column.integer(),
    listingHash: column.hex(),
    bestOfferHash: column.hex(),
    lastSaleId: column.text(),
  }),
  (table) => ({
    key: primaryKey({ columns: [table.collection, table.tokenId] }),
    byOwner: index().on(table.owner, table.collection, table.tokenId),
  }),
);

/** Units of ERC-1155 ids. */
export const balance = onchainTable(
  "balance",
  (column) => ({
    collection: column.hex().notNull(),
    tokenId: column.bigint().notNull(),
    owner: column.hex().notNull(),
    units: column.bigint().notNull(),
  }),
  (table) => ({
    key: primaryKey({ columns: [table.collection, table.tokenId, table.owner] }),
    byOwner: index().on(table.owner, table.collection, table.tokenId),
  }),
);

/** How many token ids an address holds of a collection. */
export const holder = onchainTable(
  "holder",
  (column) => ({
    collection: column.hex().notNull(),
    owner: column.hex().notNull(),
    tokens: column.integer().notNull(),
  }),
  (table) => ({ key: primaryKey({ columns: [table.collection, table.owner] }) }),
);

export const collection = onchainTable(
  "collection",
  (column) => ({
    address: column.hex().primaryKey(),
    supply: column.integer().notNull(),
    holders: column.integer().notNull(),
    sales: column.integer().notNull(),
    volume: column.bigint().notNull(),
    lastSaleAt: column.bigint(),
    /** Of a ranking, as whoever shows one would store it. */
    place: column.integer(),
    slug: column.text(),
    name: column.text(),
    symbol: column.text(),
    description: column.text(),
    standard: column.integer(),
    image: column.text(),
    banner: column.text(),
    website: column.text(),
    twitter: column.text(),
    discord: column.text(),
    isVerified: column.boolean(),
    contracts: column.json(),
    royalty: column.json(),
    listed: column.integer(),
    floor: column.json(),
    floorBuyable: column.json(),
    bestOffer: column.json(),
    daySales: column.json(),
    floorChange: column.json(),
    createdAt: column.bigint(),
    updatedAt: column.bigint(),
  }),
  (table) => ({ byPlace: index().on(table.place) }),
);

/** Volume by hour, of which the last day, week and month are summed. */
export const collectionHour = onchainTable(
  "collection_hour",
  (column) => ({
    collection: column.hex().notNull(),
    hour: column.bigint().notNull(),
    sales: column.integer().notNull(),
    volume: column.bigint().notNull(),
  }),
  (table) => ({ key: primaryKey({ columns: [table.collection, table.hour] }) }),
);

export const sale = onchainTable(
  "sale",
  (column) => ({
    id: column.text().primaryKey(),
    collection: column.hex().notNull(),
    tokenId: column.bigint().notNull(),
    quantity: column.bigint().notNull(),
    price: column.bigint().notNull(),
    currency: column.hex().notNull(),
    seller: column.hex().notNull(),
    buyer: column.hex().notNull(),
    side: column.text().notNull(),
    orderHash: column.hex().notNull(),
    exchange: column.hex().notNull(),
    fees: column.json().notNull(),
    blockNumber: column.bigint().notNull(),
    blockHash: column.hex().notNull(),
    transactionHash: column.hex().notNull(),
    logIndex: column.integer().notNull(),
    timestamp: column.bigint().notNull(),
    saleId: column.hex(),
    totalPrice: column.bigint(),
    usd: column.text(),
    via: column.hex(),
    washRule: column.text(),
    marketplace: column.text(),
    protocol: column.text(),
    protocolVersion: column.text(),
    bundleSize: column.integer(),
    bundleTotal: column.bigint(),
  }),
  (table) => ({
    newest: index().on(table.collection, table.timestamp, table.id),
    ofToken: index().on(table.collection, table.tokenId, table.timestamp),
  }),
);

/** Transfers, mints, burns, sales and cancels. */
export const activity = onchainTable(
  "activity",
  (column) => ({
    id: column.text().primaryKey(),
    type: column.text().notNull(),
    collection: column.hex(),
    tokenId: column.bigint(),
    quantity: column.bigint(),
    from: column.hex(),
    to: column.hex(),
    price: column.bigint(),
    orderHash: column.hex(),
    blockNumber: column.bigint().notNull(),
    transactionHash: column.hex().notNull(),
    timestamp: column.bigint().notNull(),
  }),
  (table) => ({
    newest: index().on(table.collection, table.timestamp, table.id),
    byGiver: index().on(table.from, table.timestamp),
    byTaker: index().on(table.to, table.timestamp),
  }),
);

/** What events alone tell of an order: there is no other source of listings here. */
export const order = onchainTable(
  "order",
  (column) => ({
    hash: column.hex().primaryKey(),
    maker: column.hex().notNull(),
    status: column.text().notNull(),
    collection: column.hex(),
    tokenId: column.bigint(),
    price: column.bigint(),
    /** The maker's counter when it was validated: another one of the maker ends it. */
    counter: column.bigint(),
    updatedAt: column.bigint().notNull(),
    /** Of bids. */
    kind: column.text(),
    sellerNet: column.bigint(),
    marketplace: column.text(),
    isBuyable: column.boolean(),
    standard: column.integer(),
    currency: column.hex(),
    usd: column.text(),
    quantity: column.bigint(),
    filled: column.bigint(),
    fillable: column.bigint(),
    startTime: column.bigint(),
    endTime: column.bigint(),
    createdAt: column.bigint(),
    reason: column.text(),
    fees: column.json(),
  }),
  (table) => ({
    ofMaker: index().on(table.maker),
    ofToken: index().on(table.collection, table.tokenId),
    byPrice: index().on(table.collection, table.status, table.price, table.hash),
  }),
);

export const maker = onchainTable("maker", (column) => ({
  address: column.hex().primaryKey(),
  counter: column.bigint().notNull(),
}));

/** A collection's names. */
export const profile = onchainTable("profile", (column) => ({
  address: column.hex().primaryKey(),
  slug: column.text(),
  name: column.text(),
}));

export const metadata = onchainTable(
  "metadata",
  (column) => ({
    collection: column.hex().notNull(),
    tokenId: column.bigint().notNull(),
    status: column.text().notNull(),
    name: column.text(),
    description: column.text(),
    image: column.text(),
    animation: column.text(),
    contentType: column.text(),
    tokenUri: column.text(),
    attributes: column.json(),
    updatedAt: column.bigint().notNull(),
  }),
  (table) => ({ key: primaryKey({ columns: [table.collection, table.tokenId] }) }),
);

export const tokenRelations = relations(token, ({ one }) => ({
  profile: one(profile, { fields: [token.collection], references: [profile.address] }),
  metadata: one(metadata, {
    fields: [token.collection, token.tokenId],
    references: [metadata.collection, metadata.tokenId],
  }),
  listing: one(order, { fields: [token.listingHash], references: [order.hash] }),
  bestOffer: one(order, { fields: [token.bestOfferHash], references: [order.hash] }),
  lastSale: one(sale, { fields: [token.lastSaleId], references: [sale.id] }),
}));

export const saleRelations = relations(sale, ({ one }) => ({
  profile: one(profile, { fields: [sale.collection], references: [profile.address] }),
}));

export const orderRelations = relations(order, ({ one }) => ({
  profile: one(profile, { fields: [order.collection], references: [profile.address] }),
}));
