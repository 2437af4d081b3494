// Generated from the API's document by `npm run sdk:generate`; not edited by hand.
export interface paths {
    "/v1/activity": {
        /** @description Sales, transfers, mints, burns, listings, offers and cancels, newest first. */
        get: operations["listActivity"];
    };
    "/v1/auth/key": {
        /** @description The key of this request: what it may be used for, until when and from where. */
        get: operations["getKey"];
    };
    "/v1/auth/key/requests": {
        /** @description The key's newest 1000 requests of 7 days, a few seconds late, newest first. */
        get: operations["listKeyRequests"];
    };
    "/v1/auth/keys": {
        /** @description Creates an API key without an account: a higher rate limit for seven days. */
        post: operations["createKey"];
    };
    "/v1/auth/siwe": {
        /** @description Signs in with Ethereum (ERC-4361) and makes a key: an account without a mailbox. */
        post: operations["createWalletKey"];
    };
    "/v1/auth/siwe/nonce": {
        /** @description Begins a sign-in with Ethereum (ERC-4361): a message for a wallet to sign. */
        post: operations["createSiweNonce"];
    };
    "/v1/bids": {
        /** @description Bids that can be accepted, that are temporarily inactive, or that have ended. */
        get: operations["listBids"];
    };
    "/v1/bids/{bidId}": {
        /** @description One bid, in any status. */
        get: operations["getBid"];
    };
    "/v1/bids/{bidId}/accept-data": {
        /** @description The call that accepts this bid, checked against the chain. */
        post: operations["getAcceptData"];
    };
    "/v1/bids/best": {
        /** @description The bids with the highest net for a token's holder; none for a token that is burned or was never minted. */
        get: operations["getBestBids"];
    };
    "/v1/bids/best-accept-data": {
        /** @description The call that accepts the bid with the highest net among those that pass the checks. */
        post: operations["getBestAcceptData"];
    };
    "/v1/bids/requirements": {
        /** @description What to sign and approve for up to 50 bids, checked against the chain. */
        post: operations["getBidRequirements"];
    };
    "/v1/collections": {
        /** @description Collections, sorted by a statistic. */
        get: operations["listCollections"];
    };
    "/v1/collections/{collection}": {
        /** @description One collection with its statistics. */
        get: operations["getCollection"];
    };
    "/v1/collections/{collection}/banner": {
        /** @description A collection's banner, where the chain itself holds it (a `data:` URI). */
        get: operations["getCollectionBanner"];
    };
    "/v1/collections/{collection}/depth": {
        /** @description Order book of a collection by price: active listings, and bids on it and its tokens. */
        get: operations["getDepth"];
    };
    "/v1/collections/{collection}/diff": {
        /** @description Tokens of a collection that were minted, burned, sold, listed or changed hands between two moments, by contract and id. */
        get: operations["listCollectionChanges"];
    };
    "/v1/collections/{collection}/floor-history": {
        /** @description Floor price of a collection, as candles. At most a minute old, the caller's cache included. */
        get: operations["getFloorHistory"];
    };
    "/v1/collections/{collection}/holders": {
        /** @description Who holds tokens of a collection, most token ids first; burn addresses left out. */
        get: operations["listHolders"];
    };
    "/v1/collections/{collection}/holders/distribution": {
        /** @description How many addresses hold how many tokens of a collection; burn addresses left out. At most a minute old, the caller's cache included. */
        get: operations["getHolderDistribution"];
    };
    "/v1/collections/{collection}/image": {
        /** @description A collection's image, where the chain itself holds it (a `data:` URI). */
        get: operations["getCollectionImage"];
    };
    "/v1/collections/{collection}/tokens": {
        /** @description Tokens of a collection, including burned ones: by its slug of all its contracts, by an address of that contract. */
        get: operations["listTokens"];
    };
    "/v1/collections/{collection}/tokens/{tokenId}": {
        /** @description One token. An address selects its contract; a slug the contract of the collection in which the token exists. */
        get: operations["getToken"];
    };
    "/v1/collections/{collection}/tokens/{tokenId}/activity": {
        /** @description What happened to one token, newest first: sales, transfers, listings, offers on it and cancels. An address selects its contract, a slug all of the collection's. */
        get: operations["listTokenActivity"];
    };
    "/v1/collections/{collection}/tokens/{tokenId}/animation": {
        /** @description A token's animation, where the chain itself holds it (a `data:` URI). */
        get: operations["getTokenAnimation"];
    };
    "/v1/collections/{collection}/tokens/{tokenId}/holders": {
        /** @description Who holds units of a token, by address, now or at the end of any block; burn addresses left out. */
        get: operations["listTokenHolders"];
    };
    "/v1/collections/{collection}/tokens/{tokenId}/image": {
        /** @description A token's image, where the chain itself holds it (a `data:` URI). */
        get: operations["getTokenImage"];
    };
    "/v1/collections/{collection}/tokens/{tokenId}/metadata": {
        /** @description A token's metadata document, where the chain itself holds it (a `data:` URI). */
        get: operations["getTokenMetadata"];
    };
    "/v1/collections/{collection}/tokens/{tokenId}/ownership": {
        /** @description Who owns a token and how much of it exists, now or at the end of any block. */
        get: operations["getTokenOwnership"];
    };
    "/v1/collections/{collection}/tokens/{tokenId}/refresh": {
        /** @description Has a token's metadata fetched again. A change is seen in the token, and in the feed as `metadata`. Once in ten minutes for each token, whoever asks: earlier requests are refused with `Retry-After`. */
        post: operations["refreshToken"];
    };
    "/v1/collections/{collection}/traits": {
        /** @description Traits of a collection's tokens: count, listings and floor price of each value. At most a minute old, the caller's cache included. */
        get: operations["listTraits"];
    };
    "/v1/crypto/history": {
        /** @description USD price of ETH or APE, as candles. At most a minute old, beyond seven days five minutes, the caller's cache included. */
        get: operations["getCryptoHistory"];
    };
    "/v1/ens/resolve": {
        /** @description Resolves an ENS name on Ethereum to its addresses and primary name. */
        get: operations["resolveEns"];
    };
    "/v1/events": {
        /** @description Sales, transfers, orders, cancellations and changes of metadata in the order in which they were indexed, and, where `type` names them, how the order book changes. With a key and `Accept: text/event-stream`: as they happen, as server-sent events. */
        get: operations["listEvents"];
    };
    "/v1/floor-lines": {
        /** @description Floor prices of several collections over time, for rankings: what the candles of each closed at. At most a minute old. */
        get: operations["listFloorLines"];
    };
    "/v1/listings": {
        /** @description Listings that can be bought, that are temporarily inactive, or that have ended. */
        get: operations["listListings"];
    };
    "/v1/listings/{askId}": {
        /** @description One listing, in any status. */
        get: operations["getListing"];
    };
    "/v1/listings/{askId}/buy-data": {
        /** @description The call that buys exactly this listing, checked against the chain. */
        post: operations["getBuyData"];
    };
    "/v1/listings/buy-data-bulk": {
        /** @description The calls that buy up to 20 listings, with all remaining units of each. */
        post: operations["getBulkBuyData"];
    };
    "/v1/listings/requirements": {
        /** @description What to sign and approve for up to 100 listings, checked against the chain. */
        post: operations["getListingRequirements"];
    };
    "/v1/listings/sweep": {
        /** @description The cheapest units of a collection, of all marketplaces, that pass the checks of `buy-data`, in as few transactions as possible. */
        post: operations["sweepListings"];
    };
    "/v1/openapi.json": {
        /** @description This document. */
        get: operations["getOpenApiDocument"];
    };
    "/v1/orders/asks": {
        /** @description Submits a signed listing. One that was submitted before returns its current status. */
        post: operations["submitAsk"];
    };
    "/v1/orders/asks/{askId}/cancel": {
        /** @description Always rejected: makers cancel a listing on chain. */
        post: operations["cancelAsk"];
    };
    "/v1/orders/asks/{askId}/components": {
        /** @description A listing as its maker signed it, in any status. */
        get: operations["getAskComponents"];
    };
    "/v1/orders/asks/{askId}/sync": {
        /** @description Checks a listing against the chain and returns its updated status. */
        post: operations["syncAsk"];
    };
    "/v1/orders/asks/bulk": {
        /** @description Submits up to 100 signed listings, each independently of the others. */
        post: operations["submitAsks"];
    };
    "/v1/orders/bids": {
        /** @description Submits a signed bid. One that was submitted before returns its current status. */
        post: operations["submitBid"];
    };
    "/v1/orders/bids/{bidId}/cancel": {
        /** @description Always rejected: makers cancel a bid on chain. */
        post: operations["cancelBid"];
    };
    "/v1/orders/bids/{bidId}/components": {
        /** @description A bid as its maker signed it, in any status. */
        get: operations["getBidComponents"];
    };
    "/v1/orders/bids/{bidId}/sync": {
        /** @description Checks a bid against the chain and returns its updated status. */
        post: operations["syncBid"];
    };
    "/v1/orders/bids/bulk": {
        /** @description Submits up to 50 signed bids, each independently of the others. */
        post: operations["submitBids"];
    };
    "/v1/orders/params": {
        /** @description Values and EIP-712 types to sign a listing with; those of an offer are in `offers`. */
        get: operations["getOrderParams"];
    };
    "/v1/sales": {
        /** @description Sales on all indexed marketplaces, newest first. */
        get: operations["listSales"];
    };
    "/v1/sales/{saleId}": {
        /** @description One sale. */
        get: operations["getSale"];
    };
    "/v1/search": {
        /** @description Collections, tokens, wallets, transactions, orders and sales that a text may mean. */
        get: operations["search"];
    };
    "/v1/snapshots": {
        /** @description Stores who held tokens of collections at the end of a final block, with the Merkle root that contracts verify claims by; at most 100,000 addresses. The same request has the same snapshot for ever. */
        post: operations["createSnapshot"];
    };
    "/v1/snapshots/{snapshotId}": {
        /** @description A stored list of holders: its terms, its block and the root of its tree. */
        get: operations["getSnapshot"];
    };
    "/v1/snapshots/{snapshotId}/holders": {
        /** @description The holders of a snapshot, most units first. */
        get: operations["listSnapshotHolders"];
    };
    "/v1/snapshots/{snapshotId}/holders.csv": {
        /** @description All holders of a snapshot as CSV with the columns `address` and `units`. */
        get: operations["getSnapshotCsv"];
    };
    "/v1/snapshots/{snapshotId}/proof": {
        /** @description What a wallet holds in a snapshot, with the proof that contracts verify. */
        get: operations["getSnapshotProof"];
    };
    "/v1/status": {
        /** @description How far chains are indexed and projections derived. */
        get: operations["getStatus"];
    };
    "/v1/transactions/{hash}": {
        /** @description What one transaction did to tokens and orders. */
        get: operations["getTransaction"];
    };
    "/v1/wallets/{wallet}/diff": {
        /** @description Tokens of which a wallet held another number of units after than before, or which it listed, by contract and id. */
        get: operations["listWalletChanges"];
    };
    "/v1/wallets/{wallet}/exposure": {
        /** @description What others could use of a wallet: inactive orders that become fillable when a token, money or an approval comes back, then open approvals to the exchange and the conduit, each with the transaction that ends it. */
        get: operations["listWalletExposure"];
    };
    "/v1/wallets/{wallet}/offers": {
        /** @description What a wallet could sell into now: each of its tokens with the best bid of others for it, best net first. */
        get: operations["listWalletOffers"];
    };
    "/v1/wallets/{wallet}/summary": {
        /** @description What a wallet holds is worth, and what its trades earned. */
        get: operations["getWalletSummary"];
    };
    "/v1/wallets/{wallet}/tokens": {
        /** @description Tokens that a wallet holds, of both standards, by contract and id. */
        get: operations["listWalletTokens"];
    };
    "/v1/webhooks": {
        /** @description The account's webhooks, the oldest first. */
        get: operations["listWebhooks"];
        /** @description Sends events to an address, signed as Standard Webhooks 1.0; an account may have 10 webhooks. */
        post: operations["createWebhook"];
    };
    "/v1/webhooks/{webhookId}": {
        /** @description A webhook: its address, its filters, and how far it is. */
        get: operations["getWebhook"];
        /** @description Changes a webhook: its address, its filters, whether it is enabled, or, for a replay, the place from which it goes on; what is not named stays. */
        post: operations["changeWebhook"];
    };
    "/v1/webhooks/{webhookId}/delete": {
        /** @description Deletes a webhook with its secrets and its log. */
        post: operations["deleteWebhook"];
    };
    "/v1/webhooks/{webhookId}/deliveries": {
        /** @description The newest 1,000 tries of 7 days with status and latency, newest first. */
        get: operations["listWebhookDeliveries"];
    };
    "/v1/webhooks/{webhookId}/rotate-secret": {
        /** @description A new secret; the last one signs beside it for a day. Done twice within it, the first of the three ends. */
        post: operations["rotateWebhookSecret"];
    };
    "/v1/webhooks/{webhookId}/test": {
        /** @description Sends a message of type `test` at once, signed as deliveries are, and tells how it was answered, within ten seconds. */
        post: operations["testWebhook"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActivityItem: {
            blockHash: string | null;
            blockNumber: number | null;
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description null for cancels of orders that were not taken in here, or of all of a maker's. */
            collection: components["schemas"]["CollectionRef"] | null;
            contract: string | null;
            currency: components["schemas"]["Currency"] | null;
            expiresAt: string | null;
            /** @description Giver, seller, or the order's maker. */
            from: string | null;
            /** @description Tells it from every other. */
            id: string;
            logIndex: number | null;
            marketplace: string | null;
            /** @description null for a cancel of all of a maker's. */
            orderHash: string | null;
            /** @description Of a listing or an offer taken in here. */
            orderId: string | null;
            /** @description Per unit: `priceWei` divided by 10^18. Only meaningful where `currency.symbol` is not null. */
            price: number | null;
            /** @description Per unit. */
            priceWei: string | null;
            /** @description Of a sale: the exchange. */
            protocol: {
                address: string;
                name: string;
                version: string;
            } | null;
            /** @description Units; ids of a range. */
            quantity: string | null;
            saleId: string | null;
            /** Format: date-time */
            timestamp: string;
            /** @description Receiver or buyer. */
            to: string | null;
            /** @description null for offers on a whole collection. Of ids minted as a range, the first. */
            tokenId: string | null;
            /** @description null for orders: they are on no chain. */
            txHash: string | null;
            /** @enum {string} */
            type: "sale" | "transfer" | "mint" | "burn" | "cancel" | "listing" | "offer";
            urls: {
                /** Format: uri */
                bid?: string;
                /** Format: uri */
                collection?: string;
                /** Format: uri */
                listing?: string;
                /** Format: uri */
                maker?: string;
                /** Format: uri */
                sale?: string;
                /** Format: uri */
                token?: string;
            };
            /** @description Of a sale: `price` at the coin's last price before it. */
            usd: number | null;
            /** @description The router or aggregator that took the trade for the buyer. */
            via: string | null;
            /** @description Set if it looks like a wash trade, with the rule that says so. */
            washTrade: {
                /** @enum {string} */
                rule: "same_owner" | "back_and_forth" | "repeated_purchase";
            } | null;
        };
        AdvancedOrder: {
            denominator: string;
            extraData: string;
            numerator: string;
            parameters: components["schemas"]["OrderParameters"];
            signature: string;
        };
        AskComponents: {
            askId: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            components: components["schemas"]["OrderComponents"];
            /** @description The cross-listing on opensea; null: there is none, or it was rejected. */
            opensea: {
                components: components["schemas"]["OrderComponents"];
                orderHash: string;
            } | null;
            orderHash: string;
            /** @description The exchange. */
            protocolAddress: string;
            signature: string;
            status: components["schemas"]["OrderStatus"];
        };
        AskLevel: {
            marketplaces: {
                /** @enum {string} */
                marketplace: "native" | "opensea" | "magiceden";
                /** @description Active orders. */
                orders: number;
                /** @description Units that can be filled. */
                units: string;
            }[];
            /** @description Active orders. */
            orders: number;
            /** @description Per unit, in `currency`; the wrapped native currency counts as the native. */
            price: number;
            /** @description Per unit. */
            priceWei: string;
            /** @description Units that can be filled. */
            units: string;
            /** @description Units at this price and better ones. */
            unitsCumulated: string;
            /** @description What all units at this price and better ones cost. */
            weiCumulated: string;
        };
        AskSync: {
            askId: string;
            /** Format: date-time */
            checkedAt: string;
            /** @description The block whose state was read. */
            checkedAtBlock: number;
            invalidReason: ("not_started" | "pp_retired" | "not_owner" | "not_approved" | "conduit_channel_closed" | "contract_signature_invalid" | "transfer_restricted" | "partner_invalidated" | "superseded") | null;
            orderHash: string;
            row: components["schemas"]["Listing"];
            status: components["schemas"]["OrderStatus"];
        };
        BasicOrderParameters: {
            additionalRecipients: {
                amount: string;
                recipient: string;
            }[];
            basicOrderType: number;
            considerationAmount: string;
            considerationIdentifier: string;
            considerationToken: string;
            endTime: string;
            fulfillerConduitKey: string;
            offerAmount: string;
            offerer: string;
            offererConduitKey: string;
            offerIdentifier: string;
            offerToken: string;
            salt: string;
            signature: string;
            startTime: string;
            totalOriginalAdditionalRecipients: string;
            zone: string;
            zoneHash: string;
        };
        BestBids: {
            /** @description The one with the higher net for the seller. */
            best: components["schemas"]["Bid"] | null;
            /** @enum {integer} */
            chainId: 1 | 33139;
            collection: components["schemas"]["CollectionRef"];
            collectionOffer: components["schemas"]["Bid"] | null;
            /** @description The best of kind `trait` or `token-list` whose tokens include this one. */
            criteriaOffer: components["schemas"]["Bid"] | null;
            itemOffer: components["schemas"]["Bid"] | null;
            tokenId: string;
        };
        Bid: {
            /** @description What the bidder pays per unit: `priceWei`. */
            amountWei: string;
            bidId: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            collection: components["schemas"]["CollectionRef"];
            contract: string;
            /**
             * Format: date-time
             * @description When the service first saw it.
             */
            createdAt: string;
            /** @description The tokens of a bid of kind `trait` or `token-list`. */
            criteria: components["schemas"]["BidCriteria"] | null;
            currency: components["schemas"]["Currency"];
            /**
             * Format: date-time
             * @description `endTime` of the signed order.
             */
            expiresAt: string;
            /** @description Service fee, in basis points of `price`. */
            feeBps: number;
            fees: components["schemas"]["OrderFee"][];
            /** @description Why an inactive bid cannot be filled. */
            inactiveReason: ("not_started" | "token_burned" | "insufficient_balance" | "insufficient_allowance" | "contract_signature_invalid" | "transfer_restricted") | null;
            /** @enum {string} */
            kind: "single-token" | "collection" | "trait" | "token-list";
            maker: string;
            orderHash: string;
            /** @description Per unit, in the currency. */
            price: number;
            /** @description Per unit. */
            priceWei: string;
            protocol: {
                address: string;
                name: string;
                version: string;
            };
            /** @description Units of the signed order. */
            quantity: number;
            quantityExact: components["schemas"]["ExactUnits"];
            /** @description Units filled so far. */
            quantityFilled: number;
            quantityFilledExact: components["schemas"]["ExactUnits"];
            /** @description Units not filled yet. */
            quantityRemaining: number;
            quantityRemainingExact: components["schemas"]["ExactUnits"];
            /** @description Royalty, in basis points of `price`. */
            royaltyBps: number;
            /** @description What the seller receives per unit, after fee and royalty. */
            sellerNetWei: string;
            /** @enum {string} */
            standard: "erc721" | "erc1155";
            /**
             * Format: date-time
             * @description `startTime` of the signed order.
             */
            startsAt: string;
            status: components["schemas"]["OrderStatus"];
            /** @description null: any token of the contract, or those of `criteria`. */
            tokenId: string | null;
            /**
             * Format: date-time
             * @description When its state last changed.
             */
            updatedAt: string;
            urls: {
                /** Format: uri */
                bid: string;
                /** Format: uri */
                collection: string;
                /** Format: uri */
                maker: string;
                /**
                 * Format: uri
                 * @description Absent from bids on a whole collection.
                 */
                token?: string;
            };
            /** @description `price` at the current price of the coin. */
            usd: number | null;
        };
        BidComponents: {
            bidId: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            components: components["schemas"]["OrderComponents"];
            /** @description The cross-listing on opensea; null: there is none, or it was rejected. */
            opensea: {
                components: components["schemas"]["OrderComponents"];
                orderHash: string;
            } | null;
            orderHash: string;
            /** @description The exchange. */
            protocolAddress: string;
            signature: string;
            status: components["schemas"]["OrderStatus"];
        };
        BidCriteria: {
            /** @description Of kind `trait`: how many of the tokens have the traits now, since metadata changes and the root does not. Null of kind `token-list`. */
            matchingCount: number | null;
            /** @description Merkle root of the tokens: the order's `identifierOrCriteria`, as a number. Leaves are keccak256(uint256 id), pairs are hashed in ascending order. */
            root: string;
            /** @description Tokens under the root. */
            tokenCount: number;
            /** @description Of kind `trait`: the traits, all of which each token had when the bid was submitted. Null of kind `token-list`. */
            traits: ({
                type: string;
                value: string;
            } | {
                max: string | null;
                min: string | null;
                type: string;
            })[] | null;
        };
        BidLevel: {
            /** @description The most that a seller receives for one unit at this price. */
            bestSellerNetWei: string;
            collectionOffers: components["schemas"]["OffersAtPrice"];
            criteriaOffers: components["schemas"]["OffersAtPrice"];
            /** @description Per unit, in `currency`; the wrapped native currency counts as the native. */
            price: number;
            /** @description Per unit. */
            priceWei: string;
            tokenOffers: components["schemas"]["OffersAtPrice"];
        };
        BidSync: {
            bidId: string;
            /** Format: date-time */
            checkedAt: string;
            /** @description The block whose state was read. */
            checkedAtBlock: number;
            inactiveReason: ("not_started" | "token_burned" | "insufficient_balance" | "insufficient_allowance" | "contract_signature_invalid" | "transfer_restricted") | null;
            orderHash: string;
            row: components["schemas"]["Bid"];
            status: components["schemas"]["OrderStatus"];
        };
        BookDepth: {
            bids: {
                /** @description Highest price first. Offers on the collection take any token, those on traits and lists (criteria) one of theirs. Each bid is covered by its maker's balance for itself, not all bids of a maker together. */
                levels: components["schemas"]["BidLevel"][];
                /** @description True: there are more orders, of further prices or of the last one shown. */
                truncated: boolean;
            };
            collection: components["schemas"]["LinkedCollection"];
            currency: components["schemas"]["Currency"];
            listings: {
                /** @description Lowest price first. */
                levels: components["schemas"]["AskLevel"][];
                /** @description True: there are more orders, of further prices or of the last one shown. */
                truncated: boolean;
            };
        };
        BookOrderState: {
            buyableViaApi: boolean;
            /** @description Merkle root of the tokens of a bid of kind `trait` or `token-list`; `GET /v1/bids/{bidId}` tells how many they are, and their traits. */
            criteriaRoot: string | null;
            fees: {
                kind: string;
                recipient: string;
                /** @description Per unit, out of the price. */
                wei: string;
            }[];
            /** @description `single-token`, or of bids what they are on. */
            kind: string;
            /** @description Units of the signed order. */
            quantity: string;
            quantityFilled: string;
            /** @description Why it is inactive. */
            reason: string | null;
            /** @description Per unit, what the seller gets. */
            sellerNetWei: string;
            /** @enum {string} */
            standard: "erc721" | "erc1155";
            /** @description `active`: in the book, with these terms. Any other, and null in `order_removed`: out of it. Null also of prices. */
            status: ("active" | "inactive" | "filled" | "expired" | "cancelled") | null;
        };
        BuyData: {
            askId: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            currency: components["schemas"]["Currency"];
            /** @description `fulfillAdvancedOrder`, followed by four bytes that identify this service. */
            data: string;
            orderData: components["schemas"]["BuyOrderData"];
            /** @description Of all the units bought. */
            priceWei: string;
            /** @description Units bought. */
            quantity: number;
            quantityExact: components["schemas"]["ExactUnits"];
            /** @description The exchange. */
            to: string;
            /** @description When the call expires: with the listing, or earlier if a partner's authorization expires earlier. */
            validUntil: string | null;
            /** @description Exact amount of wei to send. */
            value: string;
        };
        BuyDataBulk: {
            errors: {
                askId: string;
                /** @enum {string} */
                code: "bad_request" | "not_found" | "inactive" | "unavailable" | "order_mismatch" | "price_above_max" | "buyer_required" | "bad_amount" | "unsupported_marketplace" | "unsupported_order" | "upstream_error" | "partner_rate_limited" | "transfer_restricted" | "buying_disabled";
                error: string;
                /** @description With `partner_rate_limited`: seconds after which to ask for this listing again. After the largest of a call there is a request for each of its listings. */
                retryAfterSeconds?: number;
            }[];
            /** @description The calls that buy the listings, in the order of the request. */
            listings: components["schemas"]["BuyData"][];
        };
        BuyOrderData: {
            denominator: string;
            extraData: string;
            fulfillerConduitKey: string;
            numerator: string;
            parameters: components["schemas"]["OrderParameters"];
            /** @description For a listing in an ERC-20 currency: the buyer's balance and allowance. Approve exactly `requiredWei` for `to`. Null for native currency. */
            payment: {
                allowanceWei: string | null;
                /** @description Null: the request has no buyer. */
                balanceWei: string | null;
                requiredWei: string;
                token: string;
            } | null;
            /** @description Zero: the sender of the transaction. */
            recipient: string;
            signature: string;
        };
        Candle: {
            c: number;
            h: number;
            l: number;
            o: number;
            /**
             * Format: date-time
             * @description Start of the bucket, UTC.
             */
            t: string;
        };
        CandleSummary: {
            /** @description `last` less `first`. */
            change: number;
            /** @description Percent of `first`, four decimals. */
            changePct: number | null;
            /** @description What the first candle opened at. */
            first: number;
            high: number;
            /** @description What the last candle closed at. */
            last: number;
            low: number;
        };
        Collection: {
            address: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            contracts: {
                address: string;
                standard: ("erc721" | "erc1155") | null;
            }[];
            createdAt: string | null;
            description: string | null;
            links: {
                discord: string | null;
                twitter: string | null;
                website: string | null;
            };
            media: {
                banner: components["schemas"]["MediaUri"];
                bannerUrl: components["schemas"]["MediaUrl"];
                image: components["schemas"]["MediaUri"];
                imageUrl: components["schemas"]["MediaUrl"];
            };
            /** @description Of the contract's document (`contractURI`), which most contracts do not have. */
            metadata: {
                /** @description Why there is no metadata (`failed`), or what of the document was left out for a limit (`ok`), such as attributes beyond 200. null: nothing. */
                issue: string | null;
                /** @enum {string} */
                status: "ok" | "pending" | "failed";
                updatedAt: string | null;
            };
            name: string | null;
            royalty: {
                bps: number;
                recipient: string | null;
                /**
                 * @description `none`: no royalty is known; `bps` is 0.
                 * @enum {string}
                 */
                source: "partner" | "erc2981" | "configured" | "none";
            };
            slug: string | null;
            standard: ("erc721" | "erc1155") | null;
            stats: {
                /** @description The active bid on the collection with the highest net; null while nobody holds a token of it. */
                bestOffer: {
                    bidId: string;
                    price: number;
                    priceWei: string;
                    sellerNetWei: string;
                } | null;
                /** @description Of the floor, as a fraction. */
                change: {
                    "7d": number | null;
                    "24h": number | null;
                    "30d": number | null;
                };
                floor: components["schemas"]["Floor"] | null;
                floorBuyable: components["schemas"]["Floor"] | null;
                holders: number;
                /** @description Tokens with an active listing. */
                listed: number;
                sales: {
                    "7d"?: number;
                    "24h"?: number;
                    "30d"?: number;
                    all?: number;
                };
                /** @description Tokens not burned; units for ERC-1155. */
                supply: number;
                supplyExact: components["schemas"]["ExactUnits"];
                volume: {
                    "7d"?: number;
                    "24h"?: number;
                    "30d"?: number;
                    all?: number;
                };
                /** @description Of `volume`; null where a sale has no price in USD, as one in another currency than the chain's. */
                volumeUsd: {
                    "7d"?: number | null;
                    "24h"?: number | null;
                    "30d"?: number | null;
                    all?: number | null;
                };
                /** @description The part of `volumeWei` whose sales have a price in USD, 0 to 1. */
                volumeUsdShare: {
                    "7d"?: number;
                    "24h"?: number;
                    "30d"?: number;
                    all?: number;
                };
                volumeWei: {
                    "7d"?: string;
                    "24h"?: string;
                    "30d"?: string;
                    all?: string;
                };
                washSales: {
                    "7d"?: number;
                    "24h"?: number;
                    "30d"?: number;
                    all?: number;
                };
                /** @description The part of `volume` that is of sales with `washTrade`. */
                washVolume: {
                    "7d"?: number;
                    "24h"?: number;
                    "30d"?: number;
                    all?: number;
                };
                washVolumeWei: {
                    "7d"?: string;
                    "24h"?: string;
                    "30d"?: string;
                    all?: string;
                };
            };
            symbol: string | null;
            updatedAt: string | null;
            urls: {
                /** Format: uri */
                collection: string;
            };
            verified: boolean;
        };
        CollectionRef: {
            address: string;
            name: string | null;
            slug: string | null;
        };
        ConsiderationItem: {
            endAmount: string;
            identifierOrCriteria: string;
            itemType: number;
            recipient: string;
            startAmount: string;
            token: string;
        };
        CriteriaCoverage: {
            /** @description How many of them are minted and not burned. */
            existing: number;
            /** @description Merkle root of the tokens: the order's `identifierOrCriteria`, as a number. Leaves are keccak256(uint256 id), pairs are hashed in ascending order. */
            root: string;
            /** @description Tokens under the root. */
            tokenCount: number;
            /** @description By id. */
            tokenIds: string[];
            /** @description Of kind `trait`: the traits, all of which each token had when the bid was submitted. Null of kind `token-list`. */
            traits: ({
                type: string;
                value: string;
            } | {
                max: string | null;
                min: string | null;
                type: string;
            })[] | null;
        };
        CriteriaRequest: {
            /** @description Each once, in any order. */
            tokenIds?: string[];
            /** @description Tokens that have all of these traits; `tokenIds` then names which of them, if not all. */
            traits?: ({
                /** @description In any case and spacing. */
                type: string;
                value: string;
            } | {
                max?: string | null;
                min?: string | null;
                /** @description In any case and spacing. */
                type: string;
            })[];
        };
        /** @description The status of the cross-listing; it does not affect the listing. */
        CrossListing: {
            /** @description null unless rejected. */
            code: ("partner_rejected" | "partner_unavailable" | "partner_requirements_unmet") | null;
            message: string;
            /** @description Of the cross-listing; null: it is not an order. */
            orderHash: string | null;
            /** @enum {string} */
            status: "queued" | "posted" | "rejected";
        };
        CryptoHistory: {
            candles: components["schemas"]["Candle"][];
            /** @enum {string} */
            currency: "ETH" | "APE";
            days: number;
            /** @enum {string} */
            interval: "1h" | "4h" | "1d";
            /** @description null without candles. */
            summary: components["schemas"]["CandleSummary"] | null;
            /** @enum {string} */
            type: "ethereum" | "apecoin";
            /** @constant */
            unit: "USD";
        };
        Currency: {
            address: string;
            /** @description Null: neither the native nor the wrapped native currency; its decimals are unknown. */
            symbol: string | null;
        };
        CursorMeta: {
            chainId: number;
            /** @description null on the last page. */
            next_cursor: string | null;
            per_page: number;
            /** @description Exact number of rows in the whole list. */
            total: number;
        };
        /** @description A page may be short, or empty, with more to follow. */
        DiffMeta: {
            chainId: number;
            from: components["schemas"]["PointInTime"];
            /** @description null on the last page. */
            next_cursor: string | null;
            per_page: number;
            to: components["schemas"]["PointInTime"];
        };
        EnsRecord: {
            /** @description Coin type 60. */
            address: string | null;
            /** @description ENSIP-11, chain 33139. */
            apechainAddress: string | null;
            name: string;
            /** @description Primary name of `address`, when it resolves to `address`. */
            reverseName: string | null;
        };
        ErrorDetail: {
            actual?: string;
            expected?: string;
            field: string;
            message: string;
        };
        ErrorDetails: components["schemas"]["ErrorDetail"][];
        Event: {
            /** @description Sent again, because its block came back to the chain after a reorg. */
            again: boolean;
            blockHash: string | null;
            /** @description Of `metadata`: the block at which the document's address was read. */
            blockNumber: number | null;
            /** @description NFTs that were sold for one price. */
            bundleSize: number | null;
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description Of the NFT; null: unknown. */
            contract: string | null;
            currency: components["schemas"]["Currency"] | null;
            expiresAt: string | null;
            /** @description The sender, the seller, or the maker of the order. */
            from: string | null;
            /** @description Position in the feed; use it as `after`. Opaque. */
            id: string;
            /** @description Nothing takes it back: its block was final when this answer was made, or it is an order that was submitted. Read again later, it may have become true. False of events of the order book, which later ones replace. */
            isFinal: boolean;
            /** @description It happened more than 15 minutes before this answer was made: part of catching up, nothing to notify anybody of. */
            isHistory: boolean;
            logIndex: number | null;
            /** @description Of sales, listings, offers and events of the order book. `unknown` if it cannot be attributed. */
            marketplace: string | null;
            /** @description Of events of the order book: what the order is since, or the order that makes the price. Null: of what happened, and of a price that no order makes any more. */
            order: components["schemas"]["BookOrderState"] | null;
            /** @description Null in a `cancel`: all open orders of `from`. */
            orderHash: string | null;
            /** @description Of `floor_changed` and `best_bid_changed`: null, there was none. */
            previousPriceWei: string | null;
            /** @description Per unit: `priceWei` divided by 10^18. Only meaningful where `currency.symbol` is not null. */
            price: number | null;
            /** @description Per unit. */
            priceWei: string | null;
            /** @description Of a sale: the exchange. Whether a sale looks like a wash trade is not part of its event, as later sales decide: `GET /v1/sales/{saleId}`. */
            protocol: {
                address: string;
                name: string;
                version: string;
            } | null;
            /** @description Of events of the order book: the units that can be filled. */
            quantity: string | null;
            /** @description Of a `retracted` event: the event that is retracted; all other fields repeat it. `reorg`: its block left the chain. `correction`: its transaction turned out to be a different sale. */
            retracts: {
                id: string;
                /** @enum {string} */
                reason: "reorg" | "correction";
                type: components["schemas"]["EventType"];
            } | null;
            saleId: string | null;
            /** @description Of a sale: which side's order was filled. Of events of the order book: `ask` listings, `bid` bids. */
            side: ("ask" | "bid") | null;
            startsAt: string | null;
            /** @description Tells transfers of one log from each other: the last part of the `id` that `/v1/activity` gives them. Null: of a sale, which `saleId` tells from others, or of no log. */
            subIndex: number | null;
            /** Format: date-time */
            timestamp: string;
            to: string | null;
            /** @description The first of `quantity` ids if a contract minted a range of them. Null in `metadata`: the collection's own; of a bid: any. */
            tokenId: string | null;
            totalWei: string | null;
            txHash: string | null;
            type: components["schemas"]["EventType"];
            /** @description The router or aggregator that took the trade for the buyer. */
            via: string | null;
        };
        EventMeta: {
            chainId: number;
            /** @description Whether to request the next page at once. A page may be empty although there are later events. */
            has_more: boolean;
            /** @description `after` of the next request; also set on an empty page. */
            next: string;
            per_page: number;
        };
        /** @enum {string} */
        EventType: "mint" | "transfer" | "burn" | "sale" | "listing" | "offer" | "cancel" | "metadata" | "order_activated" | "order_updated" | "order_invalidated" | "order_superseded" | "order_filled" | "order_cancelled" | "order_expired" | "order_removed" | "floor_changed" | "best_bid_changed" | "retracted";
        /** @description Exact: JSON's numbers are rounded beyond 2^53. */
        ExactUnits: string;
        Exposure: {
            approval: {
                /** @description Of money, as last approved or read; what was spent since may be included. */
                amountWei: string | null;
                contract: string;
                /**
                 * @description `tokens`: all of the contract's. `money`: up to an amount of the currency.
                 * @enum {string}
                 */
                of: "tokens" | "money";
                /** @description Who may move them: the marketplaces' common conduit, or the exchange. */
                operator: string;
            } | null;
            bid: components["schemas"]["Bid"] | null;
            /** @description The transaction that ends it, sent by the wallet. */
            end: {
                /** @enum {string} */
                action: "cancel" | "revoke";
                data: string;
                to: string;
                value: string;
            };
            /** @description Of an order: what it lacks first. When the maker has it again, and whatever else it lacks, anybody can fill it. */
            fillableWith: ("token" | "token_approval" | "balance" | "allowance") | null;
            /** @enum {string} */
            kind: "listing" | "bid" | "approval";
            listing: components["schemas"]["Listing"] | null;
        };
        Floor: {
            askId: string;
            buyableViaApi: boolean;
            contract: string;
            /** @description The listing's own: the wrapped currency counts as the native one for the order. */
            currency: string;
            marketplace: string;
            price: number;
            priceWei: string;
            tokenId: string;
            usd: number | null;
        };
        FloorHistory: {
            candles: components["schemas"]["Candle"][];
            collection: components["schemas"]["LinkedCollection"];
            /** @enum {string} */
            currency: "ETH" | "APE";
            days: number;
            /** @enum {string} */
            interval: "1h" | "4h" | "1d";
            /** @description null without candles. */
            summary: components["schemas"]["CandleSummary"] | null;
        };
        FloorLine: {
            address: string;
            /** @description The floor at the end of each interval in which there was one. */
            points: {
                c: number;
                /** Format: date-time */
                t: string;
                wei: string;
            }[];
        };
        FoundCollection: {
            address: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            floor: components["schemas"]["Floor"] | null;
            holders: number;
            imageUrl: components["schemas"]["MediaUrl"];
            name: string | null;
            /** @description Of all time. */
            sales: number;
            /** @description A verified collection of the same name, or one that looks like it (letters of other scripts, digits for letters, marks), spacing, case and punctuation aside, when this one is not verified. */
            sameNameAs: {
                address: string;
                /** @enum {integer} */
                chainId: 1 | 33139;
                name: string | null;
                slug: string;
            } | null;
            slug: string;
            standard: ("erc721" | "erc1155") | null;
            symbol: string | null;
            urls: {
                /** Format: uri */
                collection: string;
            };
            /** @description Of the collection: set by the operator. Names are not unique; addresses are. */
            verified: boolean;
        };
        FoundOrder: {
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description `askId` of a listing, `bidId` of a bid. */
            id: string;
            maker: string;
            /** @enum {string} */
            marketplace: "native" | "opensea" | "magiceden";
            orderHash: string;
            /** @enum {string} */
            side: "listing" | "bid";
            /** @enum {string} */
            status: "active" | "inactive" | "filled" | "expired" | "cancelled";
            urls: {
                /** Format: uri */
                bid?: string;
                /** Format: uri */
                listing?: string;
                /** Format: uri */
                maker: string;
            };
        };
        FoundSale: {
            /** @enum {integer} */
            chainId: 1 | 33139;
            saleId: string;
            /** Format: date-time */
            timestamp: string;
            txHash: string;
            urls: {
                /** Format: uri */
                sale: string;
            };
        };
        FoundToken: {
            /** @enum {integer} */
            chainId: 1 | 33139;
            collection: {
                address: string;
                name: string | null;
                slug: string | null;
                /** @description Of the collection: set by the operator. Names are not unique; addresses are. */
                verified: boolean;
            };
            contract: string;
            imageUrl: components["schemas"]["MediaUrl"];
            name: string | null;
            tokenId: string;
            urls: {
                /** Format: uri */
                collection: string;
                /** Format: uri */
                token: string;
            };
        };
        FoundTransaction: {
            blockNumber: number;
            /** @enum {integer} */
            chainId: 1 | 33139;
            sales: number;
            /** Format: date-time */
            timestamp: string;
            txHash: string;
        };
        FoundWallet: {
            address: string;
            /** @description The name that was searched for. */
            ensName: string | null;
            urls: {
                /** Format: uri */
                wallet: string;
            };
        };
        HeldToken: {
            /** @description null until the metadata is fetched. */
            attributes: {
                display_type?: string;
                trait_type: string;
                value: string | number | boolean;
            }[] | null;
            /** @description The active bid with the highest net, on the token or on its contract; null for a burned token. */
            bestOffer: components["schemas"]["TokenBid"] | null;
            /** @enum {integer} */
            chainId: 1 | 33139;
            collection: components["schemas"]["CollectionRef"];
            contract: string;
            description: string | null;
            holders: number;
            isBurned: boolean;
            lastSale: components["schemas"]["LastSale"] | null;
            /** @description The cheapest active one. */
            listing: components["schemas"]["TokenListing"] | null;
            media: {
                animation: components["schemas"]["MediaUri"];
                animationUrl: components["schemas"]["MediaUrl"];
                contentType: string | null;
                image: components["schemas"]["MediaUri"];
                imageUrl: components["schemas"]["MediaUrl"];
            };
            metadata: {
                /** @description Why there is no metadata (`failed`), or what of the document was left out for a limit (`ok`), such as attributes beyond 200. null: nothing. */
                issue: string | null;
                /**
                 * @description `failed` also where a token was burned before its metadata was fetched. One sent to 0x…dead still exists and is fetched.
                 * @enum {string}
                 */
                status: "ok" | "pending" | "failed";
                updatedAt: string | null;
            };
            name: string | null;
            /** @description null for ERC-1155 and burned tokens. */
            owner: string | null;
            /** @description By the OpenRarity method; null for burned tokens and those without metadata. */
            rarity: {
                /** @description Tokens with a rank. */
                of: number;
                /** @description 1 is the rarest: first by the number of traits that no other token has, then by score. Tokens equal in both share a rank. */
                rank: number;
                /** @description Information content divided by the collection's entropy. */
                score: number;
            } | null;
            /** @enum {string} */
            standard: "erc721" | "erc1155";
            /** @description Units that exist. */
            supply: number;
            supplyExact: components["schemas"]["ExactUnits"];
            tokenId: string;
            tokenUri: components["schemas"]["MediaUri"];
            /** @description Units that the wallet holds; 1 of an ERC-721 token. */
            units: string;
            urls: {
                /** Format: uri */
                collection: string;
                /** Format: uri */
                token: string;
            };
        };
        /** @description How far the log is proved to hold what the chain said. */
        HistoryProof: {
            /** @description What a block's logs were held against: the receipts' root, or the logs' bloom, of a header that the next block names. */
            evidence: ("receipts" | "blooms") | null;
            /** @description Where the indexed history begins. */
            firstBlock: number;
            provedFrom: number;
            provedTo: number;
            /** @description Blocks that differed and were mended. */
            repaired: number;
            /** @description Unix seconds. */
            repairedAt: number | null;
            /** @description Blocks below `provedFrom` that were drawn at random and proved. */
            sampledBlocks: number;
            /** @description Part of the history up to `provedTo` that is proved without a gap; null where headers prove nothing. */
            share: number | null;
            /** @description Blocks that differ now. */
            unrepaired: number;
        };
        Holder: {
            address: string;
            /** @description Token ids of which it holds something. */
            tokens: number;
            /** @description Units of these; of ERC-721 tokens, one each. */
            units: string;
        };
        HolderDistribution: {
            collection: components["schemas"]["LinkedCollection"];
            /** @description By token ids of the collection that an address holds; always the same groups. */
            groups: {
                from: number;
                holders: number;
                /** @description null: any number from `from` on. */
                to: number | null;
                /** @description Token ids that they hold. */
                tokens: string;
            }[];
            holders: number;
            /** @description Token ids that they hold. */
            tokens: string;
        };
        HoldersMeta: {
            at?: components["schemas"]["PointInTime"];
            chainId: number;
            /** @description null on the last page. */
            next_cursor: string | null;
            per_page: number;
            /** @description Exact number of rows in the whole list. */
            total: number;
        };
        HolderSnapshot: {
            block: number;
            /** @enum {integer} */
            chainId: 1 | 33139;
            collections: {
                contract: string;
                /** @description Null: all. */
                tokenIds: string[] | null;
            }[];
            /** Format: date-time */
            createdAt: string;
            excluded: string[];
            /** @description Null, as `time`: nothing indexed happened in it. */
            hash: string | null;
            holders: number;
            /** @description A leaf is `keccak256(bytes.concat(keccak256(abi.encode(address, units))))`; pairs are hashed in ascending order. */
            leafEncoding: [
                "address",
                "uint256"
            ];
            minUnits: string;
            name: string;
            /** @description What `StandardMerkleTree.of(holders, leafEncoding).root` of OpenZeppelin is. */
            root: string;
            /** @description Of the terms and the block: the same for ever. */
            snapshotId: string;
            time: string | null;
            /** @description Of all holders together. */
            units: string;
        };
        IndexerStatus: {
            /** @description Collections whose transfers it indexes by name. */
            collections: number;
            /** @description Protocols, as sales name them. */
            exchanges: string[];
            /** @description Last block indexed. */
            indexed: number | null;
            /** @description `core`, or the name of what was added later. */
            indexer: string;
            remainingBlocks: number | null;
            /** @description An estimate, while catching up. */
            remainingSeconds: number | null;
            /**
             * @description `catching_up`: an added source's history is being indexed; all else is current.
             * @enum {string}
             */
            state: "following" | "catching_up";
        };
        InstantKey: {
            /** Format: uri */
            docs: string;
            /** Format: date-time */
            expiresAt: string;
            /** @description Send it in the header X-API-Key. Shown only once. */
            key: string;
            /** @description 0: unlimited. */
            requestsPerMinute: number;
            /** @constant */
            type: "instant";
        };
        KeyRequest: {
            /** Format: date-time */
            at: string;
            code: string | null;
            durationMs: number;
            method: string;
            path: string;
            /** @description Cut, as a long path is. */
            query: string | null;
            requestId: string | null;
            status: number;
        };
        KeyRequestMeta: {
            /** @description `before` of the next page; null: none. */
            next: string | null;
            per_page: number;
        };
        LastSale: {
            /** @description Who has the token after the transaction. */
            buyer: string;
            currency: components["schemas"]["Currency"];
            /** @description `unknown` if it cannot be attributed. */
            marketplace: string;
            /** @description Per unit: `priceWei` divided by 10^18. Only meaningful where `currency.symbol` is not null. */
            price: number;
            /** @description Per unit. */
            priceWei: string;
            protocol: {
                address: string;
                name: string;
                version: string;
            };
            quantity: number;
            quantityExact: components["schemas"]["ExactUnits"];
            /** @description Stable if the transaction is mined again after a reorg. */
            saleId: string;
            seller: string;
            /** Format: date-time */
            timestamp: string;
            totalWei: string;
            txHash: string;
            /** @description `price` at the coin's last price before the sale. */
            usd: number | null;
            /** @description The router or aggregator that took the trade for the buyer. */
            via: string | null;
            /** @description Set if it looks like a wash trade, with the rule that says so. */
            washTrade: {
                /** @enum {string} */
                rule: "same_owner" | "back_and_forth" | "repeated_purchase";
            } | null;
        };
        LinkedCollection: {
            address: string;
            name: string | null;
            slug: string | null;
            urls: {
                /** Format: uri */
                collection: string;
            };
        };
        Listing: {
            askId: string;
            /** @description Whether `buy-data` is available for it now. */
            buyableViaApi: boolean;
            /** @enum {integer} */
            chainId: 1 | 33139;
            collection: components["schemas"]["CollectionRef"];
            contract: string;
            /**
             * Format: date-time
             * @description When the service first saw it.
             */
            createdAt: string;
            currency: components["schemas"]["Currency"];
            /**
             * Format: date-time
             * @description `endTime` of the signed order.
             */
            expiresAt: string;
            /** @description Service fee, in basis points of `price`. */
            feeBps: number;
            fees: components["schemas"]["OrderFee"][];
            /** @description Why an inactive listing cannot be filled. */
            invalidReason: ("not_started" | "pp_retired" | "not_owner" | "not_approved" | "conduit_channel_closed" | "contract_signature_invalid" | "transfer_restricted" | "partner_invalidated" | "superseded") | null;
            maker: string;
            /** @enum {string} */
            marketplace: "native" | "opensea" | "magiceden";
            orderHash: string;
            /** @description Per unit, in the currency. */
            price: number;
            /** @description Per unit. */
            priceWei: string;
            protocol: {
                address: string;
                name: string;
                version: string;
            };
            /** @description Units of the signed order. */
            quantity: number;
            quantityExact: components["schemas"]["ExactUnits"];
            /** @description Remaining units that the maker holds. */
            quantityFillable: number;
            quantityFillableExact: components["schemas"]["ExactUnits"];
            /** @description Units filled so far. */
            quantityFilled: number;
            quantityFilledExact: components["schemas"]["ExactUnits"];
            /** @description Units not filled yet. */
            quantityRemaining: number;
            quantityRemainingExact: components["schemas"]["ExactUnits"];
            /** @description Royalty, in basis points of `price`. */
            royaltyBps: number;
            /** @enum {string} */
            standard: "erc721" | "erc1155";
            /**
             * Format: date-time
             * @description `startTime` of the signed order.
             */
            startsAt: string;
            status: components["schemas"]["OrderStatus"];
            tokenId: string;
            /**
             * Format: date-time
             * @description When its state last changed.
             */
            updatedAt: string;
            urls: {
                /** Format: uri */
                collection: string;
                /** Format: uri */
                listing: string;
                /** Format: uri */
                maker: string;
                /** Format: uri */
                token: string;
            };
            /** @description `price` at the current price of the coin. */
            usd: number | null;
        };
        ListingRequirement: {
            /** @description `setApprovalForAll(operator, true)` on `token`, once per collection. */
            approval: {
                /** @description null: unknown. */
                needed: boolean | null;
                operator: string;
                token: string;
            };
            /** @description The code that submitting the order would be rejected with, even with the required approval. */
            blocked: components["schemas"]["OrderRefusalCode"] | null;
            /** @description To be signed without changes. */
            consideration: components["schemas"]["UnsignedConsiderationItem"][] | null;
            contract: string;
            /** @description Units that the maker holds; null: unknown. */
            heldUnits: string | null;
            legs: components["schemas"]["PriceLeg"][] | null;
            message: string | null;
            offer: components["schemas"]["OfferItem"][] | null;
            /** @description What a cross-listing for opensea must contain; null: not available, or temporarily unknown. */
            opensea: components["schemas"]["TwinRequirement"] | null;
            /** @description 0 is FULL_OPEN, 1 PARTIAL_OPEN. null, like `offer` and `consideration`: nothing can be signed. */
            orderType: number | null;
            /** @description Whether the maker holds enough units; null: unknown. */
            owned: boolean | null;
            quantity: number;
            /** @description What the maker can do about it. */
            retry: ("fix_and_resign" | "never" | "later" | "after_onchain_action") | null;
            /** @description null: no price was given, or the royalty is unknown. */
            royalty: components["schemas"]["OrderRoyalty"] | null;
            sellerNetWei: string | null;
            standard: ("erc721" | "erc1155") | null;
            tokenId: string;
            unitPriceWei: string;
        };
        ListingRequirements: {
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description The operator to approve on each collection. */
            conduit: string;
            conduitKey: string;
            /** @description The maker's, to be signed. */
            counter: string;
            feeBps: number;
            feeRecipient: string;
            /** @description In the order of the request. */
            items: components["schemas"]["ListingRequirement"][];
            maker: string;
            /** @description The exchange. */
            seaport: string;
        };
        /** @description As in the metadata; in lists a link to this API in place of a `data:` document. */
        MediaUri: string | null;
        /** @description The same over http(s): of `ipfs://` and `ar://` at a gateway, of a `data:` document at this API; null: none. */
        MediaUrl: string | null;
        MetadataRefresh: {
            /** @enum {integer} */
            chainId: 1 | 33139;
            contract: string;
            /**
             * Format: date-time
             * @description From then on the token may be refreshed again.
             */
            nextAllowedAt: string;
            /** Format: date-time */
            requestedAt: string;
            tokenId: string;
        };
        MomentMeta: {
            at?: components["schemas"]["PointInTime"];
        };
        NewWebhook: {
            /** @description An event id: all events up to it were taken, or are not for this webhook. */
            after: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description null: of all. */
            collection: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @enum {string} */
            delivery: "latest" | "final";
            disabledAt: string | null;
            /** @description Who disabled it: its owner, an operator, three days without success, or the receiver, which answered 410. null: it is enabled. */
            disabledBy: ("owner" | "operator" | "failures" | "gone") | null;
            failingSince: string | null;
            /** @description In a row, of the event after `after`; 0: the last one was taken. */
            failures: number;
            /** @description Until then the secret before the present one signs too. */
            formerSecretUntil: string | null;
            isEnabled: boolean;
            /** @description When that event is sent again. */
            retryAt: string | null;
            /** @description `whsec_` and base64, as libraries of Standard Webhooks take it. Shown once. */
            secret: string;
            /** @description null: all but those of the order book, which are sent where they are named. */
            types: components["schemas"]["EventType"][] | null;
            url: string;
            /** @description null: of all. */
            wallet: string | null;
            /** @description Number of the webhook. */
            webhookId: string;
        };
        NewWebhookSecret: {
            /**
             * Format: date-time
             * @description Deliveries are signed with both until then, 24 hours from now.
             */
            formerSecretUntil: string;
            /** @description `whsec_` and base64, as libraries of Standard Webhooks take it. Shown once. */
            secret: string;
            /** @description Number of the webhook. */
            webhookId: string;
        };
        OfferAcceptData: {
            approval: components["schemas"]["SellerApproval"];
            basicOrderParameters: components["schemas"]["BasicOrderParameters"];
            bidId: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @constant */
            method: "fulfillBasicOrder_efficient_6GL6yc";
            /** @description Units sold. */
            quantity: number;
            quantityExact: components["schemas"]["ExactUnits"];
            /** @description What the seller receives for all units sold. */
            sellerNetWei: string;
            /** @description The exchange. The transaction must come from the seller. */
            to: string;
            tokenId: string;
            /** Format: date-time */
            validUntil: string;
            /** @constant */
            value: "0";
        } | {
            approval: components["schemas"]["SellerApproval"];
            bidId: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            criteriaResolvers: {
                criteriaProof: string[];
                identifier: string;
                index: string;
                orderIndex: string;
                side: number;
            }[];
            fulfillments: {
                considerationComponents: {
                    itemIndex: string;
                    orderIndex: string;
                }[];
                offerComponents: {
                    itemIndex: string;
                    orderIndex: string;
                }[];
            }[];
            /** @constant */
            method: "matchAdvancedOrders";
            orders: components["schemas"]["AdvancedOrder"][];
            /** @description Units sold. */
            quantity: number;
            quantityExact: components["schemas"]["ExactUnits"];
            recipient: string;
            /** @description What the seller receives for all units sold. */
            sellerNetWei: string;
            /** @description The exchange. The transaction must come from the seller. */
            to: string;
            tokenId: string;
            /** Format: date-time */
            validUntil: string;
            /** @constant */
            value: "0";
        };
        OfferItem: {
            endAmount: string;
            identifierOrCriteria: string;
            itemType: number;
            startAmount: string;
            token: string;
        };
        OfferOrderComponents: components["schemas"]["UnsignedConsiderationItem"][];
        /** @description The same for an offer of `unitPriceWei` for one unit. */
        OfferParameters: {
            /** @description The maker's allowance to the exchange; null without `maker`. */
            allowanceWei: string | null;
            /** @description null without `maker`. */
            balanceWei: string | null;
            /** @description The code that submitting the order would be rejected with, even with the required approval. */
            blocked: components["schemas"]["OrderRefusalCode"] | null;
            /** @description Zero: the exchange itself transfers the currency. */
            conduitKey: string;
            consideration: components["schemas"]["OfferOrderComponents"] | null;
            /** @description The tokens of an offer on several, to be sent with the order; null: it is for one, for every one, or blocked. */
            criteria: components["schemas"]["CriteriaCoverage"] | null;
            currency: components["schemas"]["Currency"];
            legs: components["schemas"]["PriceLeg"][] | null;
            message: string | null;
            offer: components["schemas"]["OfferItem"][] | null;
            /** @description Total of the maker's open offers; null without `maker`. */
            openOffersWei: string | null;
            /** @description 0 is FULL_OPEN, 1 PARTIAL_OPEN. null, like `offer` and `consideration`: nothing can be signed. */
            orderType: number | null;
            /** @description For this offer and the maker's open ones: approve exactly this amount. */
            requiredAllowanceWei: string | null;
            /** @description What the maker can do about it. */
            retry: ("fix_and_resign" | "never" | "later" | "after_onchain_action") | null;
            /** @description null: no price was given, or the royalty is unknown. */
            royalty: components["schemas"]["OrderRoyalty"] | null;
            sellerNetWei: string | null;
        };
        OfferRequirement: {
            amountWei: string;
            /** @description The code that submitting the order would be rejected with, even with the required approval. */
            blocked: components["schemas"]["OrderRefusalCode"] | null;
            /** @description To be signed without changes. */
            consideration: components["schemas"]["UnsignedConsiderationItem"][] | null;
            contract: string;
            /** @description The tokens of a bid on several, to be sent with the order; null: it is for one, for every one, or blocked. */
            criteria: components["schemas"]["CriteriaCoverage"] | null;
            /** @enum {string} */
            kind: "item" | "collection" | "trait" | "token-list";
            legs: components["schemas"]["PriceLeg"][] | null;
            message: string | null;
            offer: components["schemas"]["OfferItem"][] | null;
            /** @description 0 is FULL_OPEN, 1 PARTIAL_OPEN. null, like `offer` and `consideration`: nothing can be signed. */
            orderType: number | null;
            quantity: number;
            /** @description What the maker can do about it. */
            retry: ("fix_and_resign" | "never" | "later" | "after_onchain_action") | null;
            /** @description null: no price was given, or the royalty is unknown. */
            royalty: components["schemas"]["OrderRoyalty"] | null;
            sellerNetWei: string | null;
            standard: ("erc721" | "erc1155") | null;
            tokenId: string | null;
            /** @description Amount times quantity. */
            totalWei: string;
        };
        OfferRequirements: {
            /** @description The maker's allowance to the exchange. */
            allowanceWei: string;
            balanceWei: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description Zero: the exchange itself transfers the currency. */
            conduitKey: string;
            /** @description The maker's, to be signed. */
            counter: string;
            currency: components["schemas"]["Currency"];
            feeBps: number;
            feeRecipient: string;
            /** @description In the order of the request. */
            items: components["schemas"]["OfferRequirement"][];
            maker: string;
            /** @description Total of the maker's open offers. */
            openOffersWei: string;
            /** @description For open offers and every item that is not blocked: approve exactly this amount. */
            requiredAllowanceWei: string;
            /** @description The exchange. */
            seaport: string;
            sellerConduitKey: string;
        };
        OffersAtPrice: {
            /** @description Active orders. */
            orders: number;
            /** @description What sellers receive for all units at this price and better ones. */
            sellerNetWeiCumulated: string;
            /** @description Units that can be filled. */
            units: string;
            /** @description Units at this price and better ones. */
            unitsCumulated: string;
        };
        OrderComponents: {
            conduitKey: string;
            consideration: components["schemas"]["ConsiderationItem"][];
            counter: string;
            endTime: string;
            offer: components["schemas"]["OfferItem"][];
            offerer: string;
            orderType: number;
            salt: string;
            startTime: string;
            zone: string;
            zoneHash: string;
        };
        OrderFee: {
            bps: number;
            /** @enum {string} */
            kind: "service" | "royalty" | "other";
            recipient: string;
            /** @description Per unit, out of the price. */
            wei: string;
        };
        OrderListMeta: {
            at?: components["schemas"]["PointInTime"];
            chainId: number;
            /** @description null on the last page. */
            next_cursor: string | null;
            /** @description null when a cursor was used. */
            page: number | null;
            per_page: number;
            /** @description Exact number of rows in the whole list. */
            total: number;
        };
        OrderParameterBlock: {
            /** @description The code that submitting the order would be rejected with, even with the required approval. */
            blocked: components["schemas"]["OrderRefusalCode"] | null;
            bounds: {
                clockSkewSeconds: number;
                maxDurationSeconds: number;
                maxPriceWei: string;
                /** @description Units of one order, ERC-1155. */
                maxQuantity: string;
                maxStartDelaySeconds: number;
                minDurationSeconds: number;
                /** @description For one unit. */
                minPriceWei: string;
            };
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description The operator to approve on each collection. */
            conduit: string;
            conduitKey: string;
            /** @description To be signed without changes. */
            consideration: components["schemas"]["UnsignedConsiderationItem"][] | null;
            /** @description The maker's, to be signed; null without `maker`. */
            counter: string | null;
            /** @description EIP-712 domain. */
            domain: {
                chainId: number;
                name: string;
                verifyingContract: string;
                version: string;
            };
            feeBps: number;
            feeRecipient: string;
            legs: components["schemas"]["PriceLeg"][] | null;
            maker: string | null;
            message: string | null;
            offer: components["schemas"]["OfferItem"][] | null;
            offers: components["schemas"]["OfferParameters"];
            /** @description 0 is FULL_OPEN, 1 PARTIAL_OPEN. null, like `offer` and `consideration`: nothing can be signed. */
            orderType: number | null;
            /** @constant */
            primaryType: "OrderComponents";
            protocol: {
                address: string;
                name: string;
                version: string;
            };
            /** @description What the maker can do about it. */
            retry: ("fix_and_resign" | "never" | "later" | "after_onchain_action") | null;
            /** @description null: no price was given, or the royalty is unknown. */
            royalty: components["schemas"]["OrderRoyalty"] | null;
            /** @description First four bytes of the salt, which has 32; the others are random. */
            saltPrefix: string;
            /** @description The exchange; the same as in `domain`. */
            seaport: string;
            sellerNetWei: string | null;
            types: {
                [key: string]: {
                    name: string;
                    type: string;
                }[];
            };
            zone: string;
            zoneHash: string;
        };
        OrderParameters: {
            conduitKey: string;
            consideration: components["schemas"]["ConsiderationItem"][];
            endTime: string;
            offer: components["schemas"]["OfferItem"][];
            offerer: string;
            orderType: number;
            salt: string;
            startTime: string;
            totalOriginalConsiderationItems: string;
            zone: string;
            zoneHash: string;
        };
        /** @enum {string} */
        OrderRefusalCode: "bad_structure" | "unsupported_chain" | "wrong_protocol" | "pp_retired" | "bulk_signature_not_allowed" | "listings_paused" | "offers_paused" | "unsupported_order_type" | "zone_not_allowed" | "wrong_conduit" | "bundle_not_supported" | "unsupported_item_type" | "bad_quantity" | "not_partially_fillable" | "amount_not_divisible" | "dynamic_price_not_supported" | "private_order_not_supported" | "unsupported_currency" | "bad_criteria" | "zero_price" | "price_too_low" | "price_too_high" | "consideration_mismatch" | "unexpected_consideration" | "fee_missing" | "fee_wrong_recipient" | "fee_wrong_amount" | "royalty_missing" | "royalty_wrong_recipient" | "royalty_wrong_amount" | "royalty_unexpected" | "fees_too_high" | "end_before_start" | "not_started" | "order_expired" | "duration_too_short" | "duration_too_long" | "missing_signature" | "bad_signature_length" | "bad_signature" | "bad_bulk_proof" | "contract_signature_invalid" | "counter_stale" | "counter_ahead" | "unknown_collection" | "token_standard_mismatch" | "token_not_found" | "token_burned" | "not_owner" | "insufficient_quantity" | "not_approved" | "insufficient_balance" | "insufficient_allowance" | "conduit_channel_closed" | "order_cancelled" | "order_filled" | "transfer_restricted" | "maker_blocked" | "self_offer" | "raise_requires_cancel" | "too_many_open_orders" | "offer_exposure_exceeded" | "rate_limited" | "rpc_unavailable";
        OrderRoyalty: {
            /** @description Of the price, rounded. */
            bps: number;
            /** @description null: no royalty. */
            royaltyRecipient: string | null;
            /** @description For one unit. */
            royaltyWei: string;
            /** @enum {string} */
            source: "partner" | "erc2981" | "configured" | "none";
        };
        /** @enum {string} */
        OrderStatus: "active" | "inactive" | "filled" | "expired" | "cancelled";
        OwnKey: {
            /** Format: date-time */
            createdAt: string;
            /** @description null: never. */
            expiresAt: string | null;
            /** @description Another key replaced it: it expires soon. */
            isReplaced: boolean;
            name: string | null;
            /** @description Networks that it may be used from, in CIDR notation; null: all. */
            networks: string[] | null;
            /** @description 0: unlimited. The keys of an account share their limit. */
            requestsPerMinute: number;
            /** @description What the key may be used for. */
            scopes: ("read" | "orders" | "stream" | "webhooks")[];
            /** @enum {string} */
            type: "instant" | "permanent";
        };
        PageMeta: {
            chainId: number;
            /** @description null on the last page. */
            next_cursor: string | null;
            /** @description null when a cursor was used. */
            page: number | null;
            per_page: number;
            /** @description Exact number of rows in the whole list. */
            total: number;
        };
        PointInTime: {
            block: number;
            /** @enum {integer} */
            chainId: 1 | 33139;
            /**
             * Format: date-time
             * @description Of orders.
             */
            clock?: string;
            /** @description Null, as `time`: nothing that is indexed happened in the block. */
            hash: string | null;
            /** @description No reorg can change it. */
            isFinal: boolean;
            /**
             * Format: date-time
             * @description Set: partners' listings are known from then on, so of listings it has only those signed here.
             */
            partnersFrom?: string;
            /** @description Facts were read up to it: later ones change the answer only by a reorg, or by late events of the block. */
            position: string;
            time: string | null;
        };
        /** @description One payment of a price. */
        PriceLeg: {
            /** @enum {string} */
            kind: "seller" | "service" | "royalty";
            /** @description null: the seller, who is not known yet. */
            recipient: string | null;
            /** @description For one unit. */
            unitWei: string;
            /** @description For the whole order. */
            wei: string;
        };
        Sale: {
            blockHash: string;
            blockNumber: number;
            bundle: {
                size: number;
                totalWei: string;
            } | null;
            /** @description Who has the token after the transaction. */
            buyer: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            collection: components["schemas"]["CollectionRef"];
            contract: string;
            currency: components["schemas"]["Currency"];
            fees: {
                bps: number;
                /** @enum {string} */
                kind: "service" | "royalty" | "other";
                recipient: string;
                wei: string;
            }[];
            logIndex: number;
            /** @description `unknown` if it cannot be attributed. */
            marketplace: string;
            orderHash: string | null;
            /** @description Per unit: `priceWei` divided by 10^18. Only meaningful where `currency.symbol` is not null. */
            price: number;
            /** @description Per unit. */
            priceWei: string;
            protocol: {
                address: string;
                name: string;
                version: string;
            };
            quantity: number;
            quantityExact: components["schemas"]["ExactUnits"];
            /** @description Stable if the transaction is mined again after a reorg. */
            saleId: string;
            seller: string;
            /**
             * @description Which side's order was filled.
             * @enum {string}
             */
            side: "ask" | "bid";
            /** Format: date-time */
            timestamp: string;
            tokenId: string;
            totalWei: string;
            txHash: string;
            urls: {
                /** Format: uri */
                collection: string;
                /** Format: uri */
                sale: string;
                /** Format: uri */
                token: string;
            };
            /** @description `price` at the coin's last price before the sale. */
            usd: number | null;
            /** @description The router or aggregator that took the trade for the buyer. */
            via: string | null;
            /** @description Set if it looks like a wash trade, with the rule that says so. */
            washTrade: {
                /** @enum {string} */
                rule: "same_owner" | "back_and_forth" | "repeated_purchase";
            } | null;
        };
        SearchResult: {
            /** @description Verified ones first, then exact names, then by sales and holders. */
            collections: components["schemas"]["FoundCollection"][];
            orders: components["schemas"]["FoundOrder"][];
            sales: components["schemas"]["FoundSale"][];
            tokens: components["schemas"]["FoundToken"][];
            /** @description With at least one event that is indexed here. */
            transactions: components["schemas"]["FoundTransaction"][];
            wallets: components["schemas"]["FoundWallet"][];
        };
        SellerApproval: {
            /** @description Null: unknown. */
            isApproved: boolean | null;
            /** @description The operator that the seller must approve. */
            operator: string;
            token: string;
        };
        SignedInteger: string | number;
        SignedOrder: {
            domain?: {
                chainId?: (string | null) | number;
                name?: string | null;
                salt?: string | null;
                verifyingContract?: string | null;
                version?: string | null;
            } | null;
            kind?: string | null;
            orderKind?: string | null;
            parameters: components["schemas"]["SignedOrderParameters"];
            protocol?: string | null;
            protocolAddress?: string | null;
            signature?: unknown;
            type?: string | null;
        } | {
            conduitKey: string;
            consideration: {
                endAmount: components["schemas"]["SignedInteger"];
                identifierOrCriteria: string | components["schemas"]["SignedInteger"];
                itemType: components["schemas"]["SignedInteger"];
                recipient: string;
                startAmount: components["schemas"]["SignedInteger"];
                token: string;
            }[];
            counter: components["schemas"]["SignedInteger"];
            domain?: {
                chainId?: (string | null) | number;
                name?: string | null;
                salt?: string | null;
                verifyingContract?: string | null;
                version?: string | null;
            } | null;
            endTime: components["schemas"]["SignedInteger"];
            kind?: string | null;
            offer: {
                endAmount: components["schemas"]["SignedInteger"];
                identifierOrCriteria: string | components["schemas"]["SignedInteger"];
                itemType: components["schemas"]["SignedInteger"];
                startAmount: components["schemas"]["SignedInteger"];
                token: string;
            }[];
            offerer: string;
            orderKind?: string | null;
            orderType: components["schemas"]["SignedInteger"];
            protocol?: string | null;
            protocolAddress?: string | null;
            salt: string | number;
            signature?: unknown;
            startTime: components["schemas"]["SignedInteger"];
            totalOriginalConsiderationItems?: unknown;
            type?: string | null;
            zone: string;
            zoneHash: string;
        };
        SignedOrderParameters: {
            conduitKey: string;
            consideration: {
                endAmount: components["schemas"]["SignedInteger"];
                identifierOrCriteria: string | components["schemas"]["SignedInteger"];
                itemType: components["schemas"]["SignedInteger"];
                recipient: string;
                startAmount: components["schemas"]["SignedInteger"];
                token: string;
            }[];
            counter: components["schemas"]["SignedInteger"];
            endTime: components["schemas"]["SignedInteger"];
            offer: {
                endAmount: components["schemas"]["SignedInteger"];
                identifierOrCriteria: string | components["schemas"]["SignedInteger"];
                itemType: components["schemas"]["SignedInteger"];
                startAmount: components["schemas"]["SignedInteger"];
                token: string;
            }[];
            offerer: string;
            orderType: components["schemas"]["SignedInteger"];
            salt: string | number;
            startTime: components["schemas"]["SignedInteger"];
            totalOriginalConsiderationItems?: unknown;
            zone: string;
            zoneHash: string;
        };
        SiweNonce: {
            /** @description What an own message must name. */
            domain: string;
            /** Format: date-time */
            expiresAt: string;
            /** @description For `personal_sign` as it is, or write your own. */
            message: string;
            /** @description For one sign-in. */
            nonce: string;
            /**
             * Format: uri
             * @description What the URI of an own message must be below.
             */
            uri: string;
        };
        SnapshotClaim: {
            address: string;
            /** @description For `MerkleProof.verify(proof, root, leaf)` of OpenZeppelin; empty where there is one holder. */
            proof: string[];
            root: string;
            snapshotId: string;
            units: string;
        };
        SnapshotHolder: {
            address: string;
            rank: number;
            units: string;
        };
        Status: {
            chains: {
                chainId: number;
                finalized: {
                    number: number;
                    /** @description `tag`: the nodes' `finalized` block. `depth`: no node serves it; as many blocks below the head as the tag ever was. null: not asked yet. */
                    saidBy: ("tag" | "depth") | null;
                } | null;
                head: {
                    hash: string;
                    number: number;
                    timestamp: number;
                } | null;
                /** @description null before the first proved block. */
                history: components["schemas"]["HistoryProof"] | null;
                indexed: {
                    /** @description null while no node answers. */
                    hash: string | null;
                    number: number;
                    timestamp: number;
                } | null;
                indexers: components["schemas"]["IndexerStatus"][];
                lagBlocks: number | null;
                lagSeconds: number | null;
                /** @description The highest block with events in the log. */
                recorded: {
                    hash: string;
                    number: number;
                } | null;
            }[];
            failing: {
                behind?: {
                    blocks?: number;
                    positions?: number;
                    seconds: number;
                };
                message: string;
                part: string;
            }[];
            /** @description The position of the log's newest fact. */
            logPosition: number | null;
            projections: {
                /** @description Facts that are not applied yet. */
                lag: number;
                /** @description Since the oldest of these was seen in the log. */
                lagSeconds: number;
                name: string;
                position: number;
                version: number;
            }[];
            ready: boolean;
        };
        Sweep: {
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description What is bought, cheapest per unit first. */
            items: components["schemas"]["SweepItem"][];
            /** @description Units bought, of all items together. */
            quantity: number;
            /** @description Why fewer units are bought than wanted: no others are within the budget; there are no others; so many cannot be bought that no more are checked. Null: as many as wanted. */
            shortage: ("budget" | "listings" | "checks") | null;
            /** @description Cheaper listings that cannot be bought now, and why. */
            skipped: {
                askId: string;
                /**
                 * @description `insufficient_balance`: of the wrapped currency.
                 * @enum {string}
                 */
                code: "bad_request" | "not_found" | "inactive" | "unavailable" | "order_mismatch" | "price_above_max" | "buyer_required" | "bad_amount" | "unsupported_marketplace" | "unsupported_order" | "upstream_error" | "partner_rate_limited" | "transfer_restricted" | "buying_disabled" | "insufficient_balance";
                error: string;
                /** @description With `partner_rate_limited`: seconds after which to ask for this listing again. After the largest of a call there is a request for each of its listings. */
                retryAfterSeconds?: number;
            }[];
            /** @description What all items cost, by currency. Together at most the budget. */
            totals: {
                currency: components["schemas"]["Currency"];
                wei: string;
            }[];
            /** @description One for all orders of an exchange; more only above 16,777,216 gas (EIP-7825). Orders that ended before it is mined are left out; a token that its maker can no longer transfer fails it as a whole: ask again for its `askIds`. */
            transactions: components["schemas"]["SweepTransaction"][];
        };
        SweepItem: {
            askId: string;
            contract: string;
            currency: components["schemas"]["Currency"];
            /** @description Of all these units. */
            priceWei: string;
            /** @description Units bought. */
            quantity: number;
            quantityExact: components["schemas"]["ExactUnits"];
            tokenId: string;
        };
        SweepTransaction: {
            /** @description The listings that it buys. */
            askIds: string[];
            /** @description `fulfillAvailableAdvancedOrders`, followed by four bytes that identify this service. */
            data: string;
            /** @description For a listing in an ERC-20 currency: the buyer's balance and allowance. Approve exactly `requiredWei` for `to`. Null for native currency. */
            payment: {
                allowanceWei: string | null;
                /** @description Null: the request has no buyer. */
                balanceWei: string | null;
                requiredWei: string;
                token: string;
            } | null;
            /** @description The exchange. */
            to: string;
            /**
             * Format: date-time
             * @description When the first of its orders can no longer be filled.
             */
            validUntil: string;
            /** @description Wei to send; the exchange returns what orders that are gone would have cost. */
            value: string;
        };
        Token: {
            /** @description null until the metadata is fetched. */
            attributes: {
                display_type?: string;
                trait_type: string;
                value: string | number | boolean;
            }[] | null;
            /** @description The active bid with the highest net, on the token or on its contract; null for a burned token. */
            bestOffer: components["schemas"]["TokenBid"] | null;
            /** @enum {integer} */
            chainId: 1 | 33139;
            collection: components["schemas"]["CollectionRef"];
            contract: string;
            description: string | null;
            holders: number;
            isBurned: boolean;
            lastSale: components["schemas"]["LastSale"] | null;
            /** @description The cheapest active one. */
            listing: components["schemas"]["TokenListing"] | null;
            media: {
                animation: components["schemas"]["MediaUri"];
                animationUrl: components["schemas"]["MediaUrl"];
                contentType: string | null;
                image: components["schemas"]["MediaUri"];
                imageUrl: components["schemas"]["MediaUrl"];
            };
            metadata: {
                /** @description Why there is no metadata (`failed`), or what of the document was left out for a limit (`ok`), such as attributes beyond 200. null: nothing. */
                issue: string | null;
                /**
                 * @description `failed` also where a token was burned before its metadata was fetched. One sent to 0x…dead still exists and is fetched.
                 * @enum {string}
                 */
                status: "ok" | "pending" | "failed";
                updatedAt: string | null;
            };
            name: string | null;
            /** @description null for ERC-1155 and burned tokens. */
            owner: string | null;
            /** @description By the OpenRarity method; null for burned tokens and those without metadata. */
            rarity: {
                /** @description Tokens with a rank. */
                of: number;
                /** @description 1 is the rarest: first by the number of traits that no other token has, then by score. Tokens equal in both share a rank. */
                rank: number;
                /** @description Information content divided by the collection's entropy. */
                score: number;
            } | null;
            /** @enum {string} */
            standard: "erc721" | "erc1155";
            /** @description Units that exist. */
            supply: number;
            supplyExact: components["schemas"]["ExactUnits"];
            tokenId: string;
            tokenUri: components["schemas"]["MediaUri"];
            urls: {
                /** Format: uri */
                collection: string;
                /** Format: uri */
                token: string;
            };
        };
        TokenBid: {
            bidId: string;
            currency: components["schemas"]["Currency"];
            /**
             * Format: date-time
             * @description `endTime` of the signed order.
             */
            expiresAt: string;
            /** @enum {string} */
            kind: "single-token" | "collection" | "trait" | "token-list";
            maker: string;
            /** @description Per unit, in the currency. */
            price: number;
            /** @description Per unit. */
            priceWei: string;
            /** @description Units not filled yet. */
            quantityRemaining: number;
            quantityRemainingExact: components["schemas"]["ExactUnits"];
            /** @description What the seller receives per unit, after fee and royalty. */
            sellerNetWei: string;
            /** @description `price` at the current price of the coin. */
            usd: number | null;
        };
        TokenChange: {
            /** @description `minted`: nobody held it before; `burned`: nobody holds it after. Null: its holders are the same. */
            change: ("minted" | "burned" | "moved") | null;
            contract: string;
            delisted: string[] | null;
            /** @description Whose units changed, by address; burn addresses are not holders. */
            holders: {
                address: string;
                unitsAfter: string;
                unitsBefore: string;
            }[];
            /** @description `askId`s that are active after and were not before. Null as `delisted`: not asked for with `listings`. */
            listed: string[] | null;
            ownerAfter: string | null;
            /** @description Null as `ownerAfter`: of ERC-1155. */
            ownerBefore: string | null;
            /** @description Between the two moments. */
            sales: number;
            /** @enum {string} */
            standard: "erc721" | "erc1155";
            tokenId: string;
        };
        TokenHolder: {
            address: string;
            /** @description 1 of an ERC-721 token. */
            units: string;
        };
        TokenHoldersMeta: {
            at?: components["schemas"]["PointInTime"];
            chainId: number;
            /** @description null on the last page. */
            next_cursor: string | null;
            per_page: number;
        };
        TokenListing: {
            askId: string;
            /** @description Whether `buy-data` is available for it now. */
            buyableViaApi: boolean;
            currency: components["schemas"]["Currency"];
            /**
             * Format: date-time
             * @description `endTime` of the signed order.
             */
            expiresAt: string;
            maker: string;
            /** @enum {string} */
            marketplace: "native" | "opensea" | "magiceden";
            /** @description Per unit, in the currency. */
            price: number;
            /** @description Per unit. */
            priceWei: string;
            /** @description Remaining units that the maker holds. */
            quantityFillable: number;
            quantityFillableExact: components["schemas"]["ExactUnits"];
            /** @description Units not filled yet. */
            quantityRemaining: number;
            quantityRemainingExact: components["schemas"]["ExactUnits"];
            /**
             * Format: date-time
             * @description `startTime` of the signed order.
             */
            startsAt: string;
            /** @description `price` at the current price of the coin. */
            usd: number | null;
        };
        TokenOwnership: {
            /** @enum {integer} */
            chainId: 1 | 33139;
            collection: components["schemas"]["CollectionRef"];
            contract: string;
            holders: number;
            isBurned: boolean;
            /** @description null for ERC-1155 and burned tokens. */
            owner: string | null;
            /** @enum {string} */
            standard: "erc721" | "erc1155";
            /** @description Units that exist. */
            supply: number;
            supplyExact: components["schemas"]["ExactUnits"];
            tokenId: string;
            urls: {
                /** Format: uri */
                collection: string;
                /** Format: uri */
                token: string;
            };
        };
        TraitsMeta: {
            at?: components["schemas"]["PointInTime"];
            /** @description Further types, or with `type` further values of it; null: none. A page of values may be short, with more to follow. */
            next_cursor: string | null;
        };
        TraitTypes: {
            collection: components["schemas"]["LinkedCollection"];
            traitTypes: {
                /** @description Whether the type has further values: ask with `type` for pages of them. */
                truncated: boolean;
                type: string;
                /** @description Cheapest first, unlisted last. */
                values: components["schemas"]["TraitValue"][];
            }[];
        };
        TraitValue: {
            /** @description Of the cheapest listing. */
            askId: string | null;
            /** @description Token ids that are not burned. */
            count: number;
            /** @description The cheapest active listing, per unit, in the chain's currency. */
            floor: number | null;
            floorWei: string | null;
            /** @description Token ids with an active listing. */
            listed: number;
            /** @description `floor` at the current price of the coin. */
            usd: number | null;
            value: string;
        };
        Transaction: {
            /** @description Its sales, transfers, mints, burns and cancels, in their order. */
            activity: components["schemas"]["ActivityItem"][];
            blockHash: string;
            blockNumber: number;
            /** @enum {integer} */
            chainId: 1 | 33139;
            sales: components["schemas"]["Sale"][];
            /** Format: date-time */
            timestamp: string;
            /** @description Whether it did more than is listed. */
            truncated: boolean;
            txHash: string;
        };
        TwinRequirement: {
            conduitKey: string;
            /** @description At the price of the item; at another price the amounts differ. */
            consideration: components["schemas"]["ConsiderationItem"][];
            /** @description Shares of the cross-listing's own price. */
            fees: {
                bps: number;
                /** @enum {string} */
                kind: "service" | "royalty";
                recipient: string;
                required: boolean;
            }[];
            /** @description From the start of the order to its end. */
            maximumSeconds: number;
            offer: components["schemas"]["OfferItem"][];
            /** @description 2 is FULL_RESTRICTED, 3 PARTIAL_RESTRICTED. */
            orderType: number;
            /** @description For one unit. */
            sellerNetWei: string;
            zone: string;
            zoneHash: string;
        };
        UncountedMeta: {
            chainId: number;
            /** @description null on the last page. */
            next_cursor: string | null;
            per_page: number;
        };
        UnsignedConsiderationItem: {
            endAmount: string;
            identifierOrCriteria: string;
            itemType: number;
            /** @description null: to be replaced by the maker's address, which the request does not contain. */
            recipient: string | null;
            startAmount: string;
            token: string;
        };
        WalletChange: {
            contract: string;
            delisted: string[] | null;
            /** @description `askId`s that are active after and were not before. Null as `delisted`: not asked for with `listings`. */
            listed: string[] | null;
            /** @enum {string} */
            standard: "erc721" | "erc1155";
            tokenId: string;
            unitsAfter: string;
            unitsBefore: string;
        };
        WalletKey: {
            /** Format: uri */
            docs: string;
            /** @description Send it in the header X-API-Key. Shown only once. */
            key: string;
            name: string;
            /** @description 0: unlimited. */
            requestsPerMinute: number;
            scopes: ("read" | "orders" | "stream" | "webhooks")[];
            /** @constant */
            type: "permanent";
            /** @description Whose account it belongs to. */
            wallet: string;
        };
        WalletOffer: {
            bid: components["schemas"]["Bid"];
            currency: components["schemas"]["Currency"];
            /** @enum {string} */
            kind: "single-token" | "collection" | "trait" | "token-list";
            /** @description Most units of those held that the bid takes; a bid on one token takes all. */
            sellableUnits: number;
            sellableUnitsExact: components["schemas"]["ExactUnits"];
            /** @description What the seller receives per unit, after fee and royalty. */
            sellerNetWei: string;
            token: components["schemas"]["HeldToken"];
        };
        WalletSummary: {
            /** @description Of the first 500 contracts: `truncated`. */
            holdings: {
                contracts: number;
                /** @description Each unit at its collection's floor, where there is one. */
                floorWei: string;
                /** @description Each at the most that an offer on its collection leaves a seller. */
                offersWei: string;
                /** @description Token ids. */
                tokens: string;
                truncated: boolean;
                units: string;
            };
            /** @description In the coin or its wrapped form, first in, first out, by sales alone; wash trades and other currencies are only counted. null: over 10000 purchases or sales. */
            trades: {
                /** @description Of units that were bought and sold. */
                costWei: string;
                /** @description After fees: cost, profit and unbought. */
                earnedWei: string;
                otherCurrencies: number;
                /** @description May be negative. */
                profitWei: string;
                purchases: number;
                sales: number;
                spentWei: string;
                /** @description Of units that were not bought. */
                unboughtWei: string;
                wash: number;
            } | null;
        };
        WalletTokensMeta: {
            at?: components["schemas"]["PointInTime"];
            chainId: number;
            /** @description null on the last page. */
            next_cursor: string | null;
            per_page: number;
        };
        Webhook: {
            /** @description An event id: all events up to it were taken, or are not for this webhook. */
            after: string;
            /** @enum {integer} */
            chainId: 1 | 33139;
            /** @description null: of all. */
            collection: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @enum {string} */
            delivery: "latest" | "final";
            disabledAt: string | null;
            /** @description Who disabled it: its owner, an operator, three days without success, or the receiver, which answered 410. null: it is enabled. */
            disabledBy: ("owner" | "operator" | "failures" | "gone") | null;
            failingSince: string | null;
            /** @description In a row, of the event after `after`; 0: the last one was taken. */
            failures: number;
            /** @description Until then the secret before the present one signs too. */
            formerSecretUntil: string | null;
            isEnabled: boolean;
            /** @description When that event is sent again. */
            retryAt: string | null;
            /** @description null: all but those of the order book, which are sent where they are named. */
            types: components["schemas"]["EventType"][] | null;
            url: string;
            /** @description null: of all. */
            wallet: string | null;
            /** @description Number of the webhook. */
            webhookId: string;
        };
        WebhookDelivery: {
            /** Format: date-time */
            at: string;
            /** @description 1: the first of its event. */
            attempt: number;
            deliveryId: string;
            durationMs: number;
            /** @description `webhook-id` of the request. */
            eventId: string;
            /** @description Why there was no answer. */
            failure: string | null;
            /** @description It was answered with 2xx. */
            isTaken: boolean;
            /** @description Of the answer; null: there was none. */
            status: number | null;
            /** @description Of the event; `test` of a test. */
            type: string;
        };
        WebhookDeliveryMeta: {
            /** @description `before` of the next page; null: none. */
            next: string | null;
            per_page: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listActivity: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Slug or 0x address. Only events of this collection. A cancel is there if its order was submitted here or shown by a partner before; a raised counter, which cancels all of a maker's orders, is in no collection's list. */
                collection?: string;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("id" | "type" | "chainId" | "collection" | "contract" | "tokenId" | "quantity" | "from" | "to" | "price" | "priceWei" | "currency" | "usd" | "marketplace" | "protocol" | "via" | "washTrade" | "saleId" | "orderId" | "orderHash" | "expiresAt" | "txHash" | "logIndex" | "blockNumber" | "blockHash" | "timestamp" | "urls")[];
                /** @description Maximum number of rows. With a filter for rare events a page may hold fewer rows, or none, with more to follow: each page scans a bounded part of the history. */
                per_page?: number;
                /** @description Only rows at or after this ISO 8601 time. */
                since?: string;
                /** @description Event types, comma-separated: sale, transfer, mint, burn, cancel, listing, offer. `listing` and `offer` are orders submitted here; listings of partner marketplaces are not events, and are found at `/v1/listings`. */
                type?: string;
                /** @description Only events that involve this wallet. */
                wallet?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ActivityItem"][];
                        meta: components["schemas"]["UncountedMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getKey: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OwnKey"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listKeyRequests: {
        parameters: {
            query?: {
                /** @description `meta.next` of the previous page. */
                before?: string;
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
                /** @description Rows per page. */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["KeyRequest"][];
                        meta: components["schemas"]["KeyRequestMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A new key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["InstantKey"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createWalletKey: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of the account's second factor, where there is one. */
                    code?: string;
                    /** @description The message that was signed. */
                    message: string;
                    /**
                     * @description Of the key. It takes the place of the account's key of this name, which stays valid for a day.
                     * @default Wallet
                     */
                    name?: string;
                    /** @description What the key may be used for; without it everything, also what is to come. */
                    scopes?: ("read" | "orders" | "stream" | "webhooks")[];
                    /** @description Of the address's own key, or what its contract accepts (ERC-1271). */
                    signature: string;
                };
            };
        };
        responses: {
            /** @description A new key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WalletKey"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createSiweNonce: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of the wallet that will sign. */
                    address: string;
                    /**
                     * @description Chain that the message names: where a contract is asked for its signature.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                };
            };
        };
        responses: {
            /** @description A message, good for ten minutes and for one sign-in */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SiweNonce"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listBids: {
        parameters: {
            query?: {
                /** @description Orders as they were then. Needs `collection` or `maker`. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection?: string;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("bidId" | "kind" | "chainId" | "orderHash" | "status" | "maker" | "collection" | "contract" | "standard" | "price" | "priceWei" | "currency" | "usd" | "quantity" | "quantityExact" | "quantityFilled" | "quantityFilledExact" | "quantityRemaining" | "quantityRemainingExact" | "startsAt" | "expiresAt" | "createdAt" | "updatedAt" | "feeBps" | "royaltyBps" | "fees" | "protocol" | "tokenId" | "criteria" | "amountWei" | "sellerNetWei" | "inactiveReason" | "urls")[];
                kind?: "single-token" | "collection" | "trait" | "token-list";
                /** @description 0x address. */
                maker?: string;
                /** @description Page, from 1. Not together with `cursor`. */
                page?: number;
                /** @description Rows per page. */
                per_page?: number;
                /** @description `seller_net_…`: by what the seller receives, `sellerNetWei`. */
                sort?: "price_asc" | "price_desc" | "created_at" | "seller_net_asc" | "seller_net_desc";
                /** @description Status at the time of the request. `filled`, `expired`, `cancelled` and `all` list the orders of a `maker` or a `token_id`. `expired`, `cancelled` and other orders that ended without a fill are listed until 30 days after their end time. */
                status?: "active" | "inactive" | "filled" | "expired" | "cancelled" | "all";
                /** @description Of `collection`: bids on this token, and those on several among which it is (`criteria`), not those on the whole collection (`kind=collection`). Without `collection`: bids on this one id, of every contract of the chain. */
                token_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Bid"][];
                        meta: components["schemas"]["OrderListMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getBid: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case. */
                bidId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Bid"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getAcceptData: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case. */
                bidId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Units of an ERC-1155 token. A bid on one token is always accepted whole. */
                    amount?: number | null;
                    /**
                     * @description Chain the request is about.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                    /** @description The seller, who must send the transaction. */
                    fulfiller: string;
                    tokenId?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OfferAcceptData"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getBestBids: {
        parameters: {
            query: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BestBids"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getBestAcceptData: {
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Chain the request is about.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                    /** @description 0x address. */
                    contract: string;
                    /** @description The seller, who must send the transaction. */
                    fulfiller: string;
                    /** @description Token id, decimal. */
                    tokenId: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OfferAcceptData"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getBidRequirements: {
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Chain the order is for.
                     * @enum {integer}
                     */
                    chainId: 1 | 33139;
                    items: {
                        /** @description For one unit, decimal. */
                        amountWei: string;
                        /** @description 0x address. */
                        contract: string;
                        criteria?: components["schemas"]["CriteriaRequest"] | null;
                        /** @enum {string} */
                        kind: "item" | "collection" | "trait" | "token-list";
                        /** @description Units; 1 for ERC-721. */
                        quantity: number;
                        tokenId?: string | null;
                    }[];
                    /** @description 0x address. */
                    maker: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OfferRequirements"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listCollections: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                direction?: "asc" | "desc";
                /** @description Sorts by volume and sales without wash trades. Figures shown stay the same; `washVolumeWei` and `washSales` tell the part. */
                exclude_wash?: boolean;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("chainId" | "address" | "slug" | "name" | "symbol" | "description" | "standard" | "contracts" | "media" | "links" | "metadata" | "verified" | "royalty" | "stats" | "urls" | "createdAt" | "updatedAt")[];
                /** @description Page, from 1. Not together with `cursor`. */
                page?: number;
                /** @description Rows per page. */
                per_page?: number;
                /** @description Period of volume, sales and change. */
                period?: "24h" | "7d" | "30d";
                /** @description Part of a name, slug or address, case-insensitive. */
                search?: string;
                sort?: "volume" | "floor" | "sales" | "listed" | "supply" | "holders" | "change";
                verified?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Collection"][];
                        meta: components["schemas"]["PageMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getCollection: {
        parameters: {
            query?: {
                /** @description `stats` as they were then, without `change`; the rest is today's. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Collection"];
                        meta: components["schemas"]["MomentMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getCollectionBanner: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "audio/*": string;
                    "image/*": string;
                    "model/*": string;
                    "video/*": string;
                };
            };
        };
    };
    getDepth: {
        parameters: {
            query?: {
                /** @description Orders as they were then. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Prices of each side at most, the best ones. */
                levels?: number;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BookDepth"];
                        meta: components["schemas"]["MomentMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listCollectionChanges: {
        parameters: {
            query: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description `csv`, `parquet`: the page's rows, lists as JSON; the header `Link` leads to the next page. */
                format?: "json" | "csv" | "parquet";
                /** @description The moment before: the end of a block. Named as `at` elsewhere. */
                from: string;
                /** @description Also tokens whose active listings differ. */
                listings?: boolean;
                /** @description Rows per page. */
                per_page?: number;
                /** @description The moment after; not before `from`. Named as `at` elsewhere. */
                to: string;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TokenChange"][];
                        meta: components["schemas"]["DiffMeta"];
                        /** @constant */
                        success: true;
                    };
                    "application/vnd.apache.parquet": string;
                    "text/csv": string;
                };
            };
        };
    };
    getFloorHistory: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Length of the window in days. It starts at the boundary of a bucket. */
                days?: number;
                /** @description Length of a bucket, in UTC. Default: 1h up to 2 days, else 4h. */
                interval?: "1h" | "4h" | "1d";
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FloorHistory"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listHolders: {
        parameters: {
            query?: {
                /** @description As it was at the end of a block of today's canonical chain: a block number (with `chainId`), a block hash, an ISO 8601 time (the last block up to it), or `position:<X-Position of an answer>` (the last block with events then). `meta.at` tells the block. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Rows per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Holder"][];
                        meta: components["schemas"]["HoldersMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getHolderDistribution: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HolderDistribution"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getCollectionImage: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "audio/*": string;
                    "image/*": string;
                    "model/*": string;
                    "video/*": string;
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Only tokens of this contract of the collection. */
                contract?: string;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("chainId" | "collection" | "contract" | "tokenId" | "name" | "description" | "standard" | "media" | "tokenUri" | "attributes" | "rarity" | "owner" | "holders" | "supply" | "supplyExact" | "listing" | "bestOffer" | "lastSale" | "isBurned" | "metadata" | "urls")[];
                /** @description Only tokens with an active listing (`true`) or without one (`false`). */
                listed?: boolean;
                /** @description Only tokens of this wallet: ERC-721 tokens that it owns, and ERC-1155 ids of which it holds units. */
                owner?: string;
                /** @description Rows per page. */
                per_page?: number;
                /** @description Tokens without a price, listing or rank come last, by token id. `recently_listed` sorts by the latest listing. */
                sort?: "token_id" | "price_asc" | "price_desc" | "rarity" | "recently_listed";
                /** @description Token ids, comma-separated, at most 100. */
                token_ids?: string;
                /** @description `traits[<type>]=<value>`; at most 5, all must match; a type again: either value. Types ignore case and spacing, values are those of the token's `attributes`. */
                traits?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Token"][];
                        meta: components["schemas"]["CursorMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getToken: {
        parameters: {
            query?: {
                /** @description Owner, orders and last sale as they were then. Documents are today's; `rarity` is null. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Token"];
                        meta: components["schemas"]["MomentMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listTokenActivity: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("id" | "type" | "chainId" | "collection" | "contract" | "tokenId" | "quantity" | "from" | "to" | "price" | "priceWei" | "currency" | "usd" | "marketplace" | "protocol" | "via" | "washTrade" | "saleId" | "orderId" | "orderHash" | "expiresAt" | "txHash" | "logIndex" | "blockNumber" | "blockHash" | "timestamp" | "urls")[];
                /** @description Maximum number of rows. With a filter for rare events a page may hold fewer rows, or none, with more to follow: each page scans a bounded part of the history. */
                per_page?: number;
                /** @description Only rows at or after this ISO 8601 time. */
                since?: string;
                /** @description Event types, comma-separated: sale, transfer, mint, burn, cancel, listing, offer. `listing` and `offer` are orders submitted here; listings of partner marketplaces are not events, and are found at `/v1/listings`. */
                type?: string;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ActivityItem"][];
                        meta: components["schemas"]["UncountedMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getTokenAnimation: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "audio/*": string;
                    "image/*": string;
                    "model/*": string;
                    "video/*": string;
                };
            };
        };
    };
    listTokenHolders: {
        parameters: {
            query?: {
                /** @description As it was at the end of a block of today's canonical chain: a block number (with `chainId`), a block hash, an ISO 8601 time (the last block up to it), or `position:<X-Position of an answer>` (the last block with events then). `meta.at` tells the block. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Rows per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TokenHolder"][];
                        meta: components["schemas"]["TokenHoldersMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getTokenImage: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "audio/*": string;
                    "image/*": string;
                    "model/*": string;
                    "video/*": string;
                };
            };
        };
    };
    getTokenMetadata: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "application/octet-stream": string;
                };
            };
        };
    };
    getTokenOwnership: {
        parameters: {
            query?: {
                /** @description As it was at the end of a block of today's canonical chain: a block number (with `chainId`), a block hash, an ISO 8601 time (the last block up to it), or `position:<X-Position of an answer>` (the last block with events then). `meta.at` tells the block. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TokenOwnership"];
                        meta: components["schemas"]["MomentMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    refreshToken: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
                /** @description Token id, decimal. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To be fetched again */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MetadataRefresh"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listTraits: {
        parameters: {
            query?: {
                /** @description Tokens and listings as they were then, with today's traits of the tokens. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description `next_cursor` of the previous page, with the same `type`. */
                cursor?: string;
                /** @description Only this type, case-insensitive. Purely numeric types are not included. */
                type?: string;
            };
            header?: never;
            path: {
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TraitTypes"];
                        meta: components["schemas"]["TraitsMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getCryptoHistory: {
        parameters: {
            query: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
                /** @description Length of the window in days. It starts at the boundary of a bucket. */
                days?: number;
                /** @description Length of a bucket, in UTC. Default: 1h up to 2 days, 4h up to 30 days, else 1d. */
                interval?: "1h" | "4h" | "1d";
                /** @description The coin. */
                type: "ethereum" | "apecoin";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CryptoHistory"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    resolveEns: {
        parameters: {
            query: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Such as `alice.eth`; case-insensitive. */
                name: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["EnsRecord"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description `meta.next` of the previous page, or the `id` of an event. `0-0` starts with the oldest event. Without it the page is empty and its `meta.next` is the position after the newest event. */
                after?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description 0x address of an NFT contract. Includes cancels of orders for it that were submitted here or shown by a partner before; a raised counter, which cancels all of a maker's orders, is in no collection's events. */
                collection?: string;
                /** @description `final`: each event when its block is final, which no reorg takes back; without retractions and what they are of. */
                delivery?: "latest" | "final";
                /** @description Rows per page. */
                per_page?: number;
                /** @description Event types, comma-separated. A type includes the retractions of such events; `retracted` selects all retractions. `listing` and `offer` are orders submitted here: listings of partner marketplaces are not events, and are found at `/v1/listings`. `metadata`: what a token or, without `tokenId`, a collection shows has changed. `order_activated` to `order_removed`, `floor_changed` and `best_bid_changed` are events of the order book, of all marketplaces: they come only where this names them, and only with `delivery=latest`. Who applies all of them from `0-0` on, by setting each order of `order.status` `active` and dropping it otherwise, has the active listings and bids. An order that was never active has none. */
                type?: string;
                /** @description 0x address of a sender, receiver, seller, buyer or order maker. */
                wallet?: string;
            };
            header?: {
                /** @description Resumes after this event without loss or repeat; takes precedence over `after`. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Event"][];
                        meta: components["schemas"]["EventMeta"];
                        /** @constant */
                        success: true;
                    };
                    "text/event-stream": string;
                };
            };
        };
    };
    listFloorLines: {
        parameters: {
            query: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Addresses of collections as rankings name them, comma-separated, at most 50. Each line is of all contracts of its collection. */
                collections: string;
                /** @description Length of the window in days. It starts at the boundary of a bucket. */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FloorLine"][];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listListings: {
        parameters: {
            query?: {
                /** @description Orders as they were then. Needs `collection` or `maker`. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection?: string;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("askId" | "marketplace" | "buyableViaApi" | "chainId" | "orderHash" | "status" | "maker" | "collection" | "contract" | "standard" | "price" | "priceWei" | "currency" | "usd" | "quantity" | "quantityExact" | "quantityFilled" | "quantityFilledExact" | "quantityRemaining" | "quantityRemainingExact" | "startsAt" | "expiresAt" | "createdAt" | "updatedAt" | "feeBps" | "royaltyBps" | "fees" | "protocol" | "tokenId" | "quantityFillable" | "quantityFillableExact" | "invalidReason" | "urls")[];
                /** @description 0x address. */
                maker?: string;
                /** @description Where it is listed. `partner_a` is opensea, `partner_b` is magiceden. */
                marketplace?: "native" | "opensea" | "magiceden" | "partner_a" | "partner_b" | "all";
                max_price?: number;
                min_price?: number;
                /** @description Page, from 1. Not together with `cursor`. */
                page?: number;
                /** @description Rows per page. */
                per_page?: number;
                sort?: "price_asc" | "price_desc" | "created_at";
                /** @description Status at the time of the request. `filled`, `expired`, `cancelled` and `all` list the orders of a `maker` or a `token_id`. `expired`, `cancelled` and other orders that ended without a fill are listed until 30 days after their end time. */
                status?: "active" | "inactive" | "filled" | "expired" | "cancelled" | "all";
                /** @description Only this token id: of the collection, else of every contract of the chain. */
                token_id?: string;
                /** @description `traits[<type>]=<value>`; at most 5, all must match; a type again: either value. Needs `collection`. Types ignore case and spacing, values are those of the token's `attributes`. */
                traits?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Listing"][];
                        meta: components["schemas"]["OrderListMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getListing: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case; listings of opensea: the order hash; listings of magiceden: `magiceden-` and the order hash. */
                askId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Listing"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getBuyData: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case; listings of opensea: the order hash; listings of magiceden: `magiceden-` and the order hash. */
                askId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Units of an ERC-1155 token. Default: all remaining units. */
                    amount?: number;
                    /** @description Receives the token. Default: the sender of the transaction. */
                    buyer?: string;
                    /**
                     * @description Chain the request is about.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                    /** @description Maximum price of all units, in ETH or APE. */
                    maxPrice?: number | string;
                    /** @description The same in wei; takes precedence over `maxPrice`. */
                    maxPriceWei?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BuyData"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getBulkBuyData: {
        requestBody: {
            content: {
                "application/json": {
                    askIds: string[];
                    /** @description Receives the token. Default: the sender of the transaction. */
                    buyer?: string;
                    /**
                     * @description Chain the request is about.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BuyDataBulk"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getListingRequirements: {
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Chain the order is for.
                     * @enum {integer}
                     */
                    chainId: 1 | 33139;
                    items: {
                        /** @description 0x address. */
                        contract: string;
                        /** @description Units; 1 for ERC-721. */
                        quantity: number;
                        /** @description Token id, decimal. */
                        tokenId: string;
                        /** @description For one unit, decimal. */
                        unitPriceWei: string;
                    }[];
                    /** @description 0x address. */
                    maker: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListingRequirements"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    sweepListings: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description Only these listings of the collection. Default: any. */
                    askIds?: string[] | null;
                    /** @description The most that all may cost together; the native and the wrapped currency are worth the same. */
                    budgetWei?: string | null;
                    /** @description Receives the tokens, and sends the transactions. */
                    buyer: string;
                    /**
                     * @description Chain the request is about.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                    /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                    collection: string;
                    /** @description Units to buy: an ERC-721 token is one, of an ERC-1155 listing any number. */
                    count: number;
                    /** @description Only listings in it. Default: both. */
                    currency?: ("native" | "wrapped") | null;
                    /** @description `traits[<type>]=<value>`; at most 5, all must match; a type again: either value. Types ignore case and spacing, values are those of the token's `attributes`. */
                    traits?: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Sweep"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getOpenApiDocument: {
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    submitAsk: {
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Chain the order is for.
                     * @enum {integer}
                     */
                    chainId: 1 | 33139;
                    /** @description A signed Seaport 1.6 order: `{parameters, signature}`, or flat. Integers are decimal strings. */
                    seaport: components["schemas"]["SignedOrder"];
                };
            };
        };
        responses: {
            /** @description In the order book */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            askId: string;
                            orderHash: string;
                            /** @enum {string} */
                            status: "active" | "inactive" | "filled" | "expired" | "cancelled";
                        };
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    cancelAsk: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case; listings of opensea: the order hash; listings of magiceden: `magiceden-` and the order hash. */
                askId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: null;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getAskComponents: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case; listings of opensea: the order hash; listings of magiceden: `magiceden-` and the order hash. */
                askId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AskComponents"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    syncAsk: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case; listings of opensea: the order hash; listings of magiceden: `magiceden-` and the order hash. */
                askId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description Chain the request is about.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                    /** @description A transaction that ended the order; its receipt is proof. */
                    txHash?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AskSync"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    submitAsks: {
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Chain the order is for.
                     * @enum {integer}
                     */
                    chainId: 1 | 33139;
                    domain?: {
                        chainId?: (string | null) | number;
                        name?: string | null;
                        salt?: string | null;
                        verifyingContract?: string | null;
                        version?: string | null;
                    } | null;
                    kind?: string | null;
                    listings: {
                        /** @description A cross-listing for opensea: the same token by the same maker, as described by `opensea` of the requirements. Validated after the listing, then posted to opensea. */
                        opensea?: components["schemas"]["SignedOrder"];
                        /** @description As in the endpoint for a single order. */
                        seaport: components["schemas"]["SignedOrder"];
                    }[];
                    orderKind?: string | null;
                    protocol?: string | null;
                    protocolAddress?: string | null;
                    type?: string | null;
                };
            };
        };
        responses: {
            /** @description Some failed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            created: number;
                            failed: number;
                            /** @description In the order of the request. */
                            results: {
                                askId?: string;
                                code?: components["schemas"]["OrderRefusalCode"];
                                contractAddress: string | null;
                                crossListing?: components["schemas"]["CrossListing"];
                                details?: {
                                    actual?: string;
                                    expected?: string;
                                    field: string;
                                    message: string;
                                }[];
                                message: string;
                                orderHash?: string;
                                /** @enum {string} */
                                retry?: "fix_and_resign" | "never" | "later" | "after_onchain_action";
                                /** @enum {string} */
                                status?: "active" | "inactive" | "filled" | "expired" | "cancelled";
                                success: boolean;
                                tokenId: string | null;
                            }[];
                        };
                        /** @description Equal to `message`; present when no item succeeded. */
                        error?: string;
                        message: string;
                        /** @description Whether at least one item succeeded. */
                        success: boolean;
                    };
                };
            };
            /** @description All in the order book */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            created: number;
                            failed: number;
                            /** @description In the order of the request. */
                            results: {
                                askId?: string;
                                code?: components["schemas"]["OrderRefusalCode"];
                                contractAddress: string | null;
                                crossListing?: components["schemas"]["CrossListing"];
                                details?: {
                                    actual?: string;
                                    expected?: string;
                                    field: string;
                                    message: string;
                                }[];
                                message: string;
                                orderHash?: string;
                                /** @enum {string} */
                                retry?: "fix_and_resign" | "never" | "later" | "after_onchain_action";
                                /** @enum {string} */
                                status?: "active" | "inactive" | "filled" | "expired" | "cancelled";
                                success: boolean;
                                tokenId: string | null;
                            }[];
                        };
                        /** @description Equal to `message`; present when no item succeeded. */
                        error?: string;
                        message: string;
                        /** @description Whether at least one item succeeded. */
                        success: boolean;
                    };
                };
            };
        };
    };
    submitBid: {
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Chain the order is for.
                     * @enum {integer}
                     */
                    chainId: 1 | 33139;
                    /** @description The tokens of a bid on several, as in its requirements. May be left out if a bid for the same tokens was submitted before. Lists that are new have a budget by maker: beyond it 429 `rate_limited` with `Retry-After`, while known ones are accepted. */
                    criteria?: components["schemas"]["CriteriaRequest"];
                    /** @description A signed Seaport 1.6 order: `{parameters, signature}`, or flat. Integers are decimal strings. */
                    seaport: components["schemas"]["SignedOrder"];
                };
            };
        };
        responses: {
            /** @description In the order book */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            bidId: string;
                            orderHash: string;
                            /** @enum {string} */
                            status: "active" | "inactive" | "filled" | "expired" | "cancelled";
                        };
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    cancelBid: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case. */
                bidId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: null;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getBidComponents: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case. */
                bidId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BidComponents"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    syncBid: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The market's prefix as it is, a hyphen and the order hash, the hash in any case. */
                bidId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description Chain the request is about.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                    /** @description A transaction that ended the order; its receipt is proof. */
                    txHash?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BidSync"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    submitBids: {
        requestBody: {
            content: {
                "application/json": {
                    bids: {
                        /** @description As in the endpoint for a single order; all bids of a request together name 10000 tokens at most. */
                        criteria?: {
                            tokenIds?: string[];
                            traits?: Record<string, never>[];
                        };
                        /** @description As in the endpoint for a single order. */
                        seaport: components["schemas"]["SignedOrder"];
                    }[];
                    /**
                     * @description Chain the order is for.
                     * @enum {integer}
                     */
                    chainId: 1 | 33139;
                    domain?: {
                        chainId?: (string | null) | number;
                        name?: string | null;
                        salt?: string | null;
                        verifyingContract?: string | null;
                        version?: string | null;
                    } | null;
                    kind?: string | null;
                    orderKind?: string | null;
                    protocol?: string | null;
                    protocolAddress?: string | null;
                    type?: string | null;
                };
            };
        };
        responses: {
            /** @description Some failed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            created: number;
                            failed: number;
                            /** @description In the order of the request. */
                            results: {
                                bidId?: string;
                                code?: components["schemas"]["OrderRefusalCode"];
                                contractAddress: string | null;
                                details?: {
                                    actual?: string;
                                    expected?: string;
                                    field: string;
                                    message: string;
                                }[];
                                message: string;
                                orderHash?: string;
                                /** @enum {string} */
                                retry?: "fix_and_resign" | "never" | "later" | "after_onchain_action";
                                /** @enum {string} */
                                status?: "active" | "inactive" | "filled" | "expired" | "cancelled";
                                success: boolean;
                                tokenId: string | null;
                            }[];
                        };
                        /** @description Equal to `message`; present when no item succeeded. */
                        error?: string;
                        message: string;
                        /** @description Whether at least one item succeeded. */
                        success: boolean;
                    };
                };
            };
            /** @description All in the order book */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            created: number;
                            failed: number;
                            /** @description In the order of the request. */
                            results: {
                                bidId?: string;
                                code?: components["schemas"]["OrderRefusalCode"];
                                contractAddress: string | null;
                                details?: {
                                    actual?: string;
                                    expected?: string;
                                    field: string;
                                    message: string;
                                }[];
                                message: string;
                                orderHash?: string;
                                /** @enum {string} */
                                retry?: "fix_and_resign" | "never" | "later" | "after_onchain_action";
                                /** @enum {string} */
                                status?: "active" | "inactive" | "filled" | "expired" | "cancelled";
                                success: boolean;
                                tokenId: string | null;
                            }[];
                        };
                        /** @description Equal to `message`; present when no item succeeded. */
                        error?: string;
                        message: string;
                        /** @description Whether at least one item succeeded. */
                        success: boolean;
                    };
                };
            };
        };
    };
    getOrderParams: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description 0x address. */
                contract?: string;
                /** @description Whether an offer is for one token, for any of the contract, for any with `traits`, or for any of `tokenIds`. */
                kind?: "item" | "collection" | "trait" | "token-list";
                /** @description 0x address. */
                maker?: string;
                /** @description Units of a listing. An offer is priced for one unit. */
                quantity?: number;
                /** @description Token id, decimal. */
                tokenId?: string;
                /** @description Of kind `token-list`, or of those with `traits`: each once, comma-separated, at most 200; `POST /v1/bids/requirements` takes up to 10000. */
                tokenIds?: string;
                /** @description `traits[<type>]=<value>`; at most 5, all must match. Of kind `trait`; bounds of numbers are taken by `POST /v1/bids/requirements`. Types ignore case and spacing, values are those of the token's `attributes`. */
                traits?: {
                    [key: string]: string;
                };
                /** @description For one unit, decimal. */
                unitPriceWei?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrderParameterBlock"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listSales: {
        parameters: {
            query?: {
                /** @description 0x address. */
                buyer?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection?: string;
                /** @description What it was paid in: `ETH`, `WETH`, `APE` or `WAPE`, or `currency.address` of a sale. */
                currency?: string;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("saleId" | "chainId" | "collection" | "contract" | "tokenId" | "quantity" | "quantityExact" | "price" | "priceWei" | "totalWei" | "currency" | "usd" | "seller" | "buyer" | "via" | "washTrade" | "side" | "marketplace" | "protocol" | "orderHash" | "fees" | "bundle" | "txHash" | "logIndex" | "blockNumber" | "blockHash" | "timestamp" | "urls")[];
                /** @description `marketplace` of a sale; `unknown` is one. `partner_a` is opensea, `partner_b` is magiceden. */
                marketplace?: string;
                /** @description Page, from 1. Not together with `cursor`. */
                page?: number;
                /** @description Rows per page. */
                per_page?: number;
                /** @description `protocol.name` of a sale: the exchange, such as `seaport` or `blur`. */
                protocol?: string;
                /** @description 0x address. */
                seller?: string;
                /** @description Only rows at or after this ISO 8601 time. */
                since?: string;
                /** @description Only this token id: of the collection, else of every contract of the chain. */
                token_id?: string;
                /** @description `traits[<type>]=<value>`; at most 5, all must match; a type again: either value. Without `collection`, tokens of every contract of the chain: refused where more than 1000 contracts have such tokens. Types ignore case and spacing, values are those of the token's `attributes`. */
                traits?: {
                    [key: string]: string;
                };
                /** @description Only rows before this ISO 8601 time. */
                until?: string;
                /** @description Buyer or seller. */
                wallet?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Sale"][];
                        meta: components["schemas"]["PageMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getSale: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description `saleId` of a sale. */
                saleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Sale"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    search: {
        parameters: {
            query: {
                /** @description Without it all chains served. */
                chainId?: 1 | 33139;
                /** @description Rows of each kind at most. */
                limit?: number;
                /** @description Beginnings of a collection's words, a slug, an address or its beginning, a token's name, a collection and a token id (`punks 12`, `0x…/12`), an ENS name, a hash of a transaction or an order, an order's id, a `saleId`. */
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SearchResult"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createSnapshot: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description As it was at the end of a block of today's canonical chain: a block number (with `chainId`), a block hash, an ISO 8601 time (the last block up to it), or `position:<X-Position of an answer>` (the last block with events then). `meta.at` tells the block. */
                    at: string;
                    /**
                     * @description Chain of the collections.
                     * @enum {integer}
                     */
                    chainId: 1 | 33139;
                    /** @description Units of all of them are added up for each address. */
                    collections: {
                        /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                        collection: string;
                        /** @description Only these ids count, of either standard. */
                        tokenIds?: string[];
                    }[];
                    /** @description Wallets that are left out; burn addresses always are. */
                    excluded?: string[];
                    /**
                     * @description Addresses with fewer are left out.
                     * @default 1
                     */
                    minUnits?: string;
                    /** @description Two snapshots may differ in it alone. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description A snapshot that there was */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HolderSnapshot"];
                        /** @constant */
                        success: true;
                    };
                };
            };
            /** @description A new snapshot */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HolderSnapshot"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getSnapshot: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description `snapshotId` of a snapshot. */
                snapshotId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HolderSnapshot"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listSnapshotHolders: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Rows per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description `snapshotId` of a snapshot. */
                snapshotId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SnapshotHolder"][];
                        meta: components["schemas"]["UncountedMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getSnapshotCsv: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description `snapshotId` of a snapshot. */
                snapshotId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
        };
    };
    getSnapshotProof: {
        parameters: {
            query: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
                /** @description 0x address. */
                wallet: string;
            };
            header?: never;
            path: {
                /** @description `snapshotId` of a snapshot. */
                snapshotId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SnapshotClaim"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getStatus: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Status"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getTransaction: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description Hash of a transaction. */
                hash: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Transaction"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listWalletChanges: {
        parameters: {
            query: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection?: string;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description `csv`, `parquet`: the page's rows, lists as JSON; the header `Link` leads to the next page. */
                format?: "json" | "csv" | "parquet";
                /** @description The moment before: the end of a block. Named as `at` elsewhere. */
                from: string;
                /** @description Also tokens whose active listings differ. */
                listings?: boolean;
                /** @description Rows per page. */
                per_page?: number;
                /** @description The moment after; not before `from`. Named as `at` elsewhere. */
                to: string;
            };
            header?: never;
            path: {
                /** @description 0x address. */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WalletChange"][];
                        meta: components["schemas"]["DiffMeta"];
                        /** @constant */
                        success: true;
                    };
                    "application/vnd.apache.parquet": string;
                    "text/csv": string;
                };
            };
        };
    };
    listWalletExposure: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Rows per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description 0x address. */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Exposure"][];
                        meta: components["schemas"]["UncountedMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listWalletOffers: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection?: string;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("token" | "bid" | "kind" | "currency" | "sellerNetWei" | "sellableUnits" | "sellableUnitsExact")[];
                /** @description Page, from 1. Not together with `cursor`. */
                page?: number;
                /** @description Rows per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description 0x address. */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WalletOffer"][];
                        meta: components["schemas"]["PageMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getWalletSummary: {
        parameters: {
            query?: {
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description 0x address. */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WalletSummary"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listWalletTokens: {
        parameters: {
            query?: {
                /** @description As it was at the end of a block of today's canonical chain: a block number (with `chainId`), a block hash, an ISO 8601 time (the last block up to it), or `position:<X-Position of an answer>` (the last block with events then). `meta.at` tells the block. Needs `fields`, of what transfers tell: chainId, collection, contract, tokenId, standard, owner, holders, supply, supplyExact, isBurned, urls, units. */
                at?: string;
                /** @description Chain the request is about. */
                chainId?: 1 | 33139;
                /** @description Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone. */
                collection?: string;
                /** @description `meta.next_cursor` of the previous page, with the same sort and filters. */
                cursor?: string;
                /** @description Only these fields of each row, comma-separated; what only others need is not read. */
                fields?: ("chainId" | "collection" | "contract" | "tokenId" | "name" | "description" | "standard" | "media" | "tokenUri" | "attributes" | "rarity" | "owner" | "holders" | "supply" | "supplyExact" | "listing" | "bestOffer" | "lastSale" | "isBurned" | "metadata" | "urls" | "units")[];
                /** @description Rows per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description 0x address. */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HeldToken"][];
                        meta: components["schemas"]["WalletTokensMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Webhook"][];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createWebhook: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description An event id: events after it are sent; `0-0`: all. Without it those from now on. */
                    after?: string;
                    /**
                     * @description Chain the request is about.
                     * @default 1
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                    collection?: string | null;
                    /**
                     * @description `final`: each event when its block is final, which no reorg takes back; without retractions and what they are of.
                     * @default latest
                     * @enum {string}
                     */
                    delivery?: "latest" | "final";
                    types?: components["schemas"]["EventType"][] | null;
                    /** @description Where events are sent: an https address on the public internet, port 443 or 8443, without credentials. */
                    url: string;
                    wallet?: string | null;
                };
            };
        };
        responses: {
            /** @description A new webhook, with its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["NewWebhook"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: {
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
            };
            header?: never;
            path: {
                /** @description `webhookId` of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `webhookId` of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description An event id: the events after it are sent, again where they were sent before; `0-0`: all. */
                    after?: string;
                    /**
                     * @description Whose events are sent.
                     * @enum {integer}
                     */
                    chainId?: 1 | 33139;
                    collection?: string | null;
                    /** @description Enabled again, a webhook goes on from its place, `after`, at once. */
                    isEnabled?: boolean;
                    types?: components["schemas"]["EventType"][] | null;
                    /** @description Where events are sent: an https address on the public internet, port 443 or 8443, without credentials. */
                    url?: string;
                    wallet?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `webhookId` of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            webhookId: string;
                        };
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description `meta.next` of the previous page. */
                before?: string;
                /** @description Must be a chain served; the answer is the same for all of them. */
                chainId?: 1 | 33139;
                /** @description Rows per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description `webhookId` of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"][];
                        meta: components["schemas"]["WebhookDeliveryMeta"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `webhookId` of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A new secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["NewWebhookSecret"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `webhookId` of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
}
/** The code of a refusal. */
export type ErrorCode =
    | "account_required"
    | "address_not_allowed"
    | "ambiguous_chain"
    | "amount_not_divisible"
    | "bad_amount"
    | "bad_bulk_proof"
    | "bad_criteria"
    | "bad_name"
    | "bad_quantity"
    | "bad_request"
    | "bad_signature"
    | "bad_signature_length"
    | "bad_siwe_message"
    | "bad_structure"
    | "bad_webhook_url"
    | "block_not_final"
    | "block_retracted"
    | "block_unknown"
    | "bulk_signature_not_allowed"
    | "bundle_not_supported"
    | "buyer_required"
    | "buying_disabled"
    | "cancel_on_chain"
    | "conduit_channel_closed"
    | "consideration_mismatch"
    | "contract_signature_invalid"
    | "counter_ahead"
    | "counter_stale"
    | "database_unavailable"
    | "disabled_by_operator"
    | "duration_too_long"
    | "duration_too_short"
    | "dynamic_price_not_supported"
    | "end_before_start"
    | "expired_key"
    | "fee_missing"
    | "fee_wrong_amount"
    | "fee_wrong_recipient"
    | "fees_too_high"
    | "headers_too_large"
    | "inactive"
    | "instant_keys_paused"
    | "insufficient_allowance"
    | "insufficient_balance"
    | "insufficient_quantity"
    | "insufficient_scope"
    | "internal"
    | "invalid_cursor"
    | "invalid_key"
    | "invalid_parameters"
    | "invalid_position"
    | "key_required"
    | "listings_paused"
    | "maker_blocked"
    | "method_not_allowed"
    | "missing_signature"
    | "no_such_key"
    | "not_approved"
    | "not_found"
    | "not_owner"
    | "not_partially_fillable"
    | "not_started"
    | "offchain_resolver"
    | "offer_exposure_exceeded"
    | "offers_paused"
    | "order_cancelled"
    | "order_expired"
    | "order_filled"
    | "order_mismatch"
    | "overloaded"
    | "partner_rate_limited"
    | "payload_too_large"
    | "point_not_covered"
    | "point_not_reached"
    | "position_not_reached"
    | "pp_retired"
    | "price_above_max"
    | "price_too_high"
    | "price_too_low"
    | "private_order_not_supported"
    | "query_timeout"
    | "raise_requires_cancel"
    | "rate_limited"
    | "refresh_too_soon"
    | "request_timeout"
    | "revoked_key"
    | "royalty_missing"
    | "royalty_unexpected"
    | "royalty_wrong_amount"
    | "royalty_wrong_recipient"
    | "rpc_unavailable"
    | "second_factor_required"
    | "self_offer"
    | "siwe_expired"
    | "snapshot_empty"
    | "snapshot_too_large"
    | "suspended"
    | "token_burned"
    | "token_mismatch"
    | "token_not_found"
    | "token_required"
    | "token_standard_mismatch"
    | "too_many_keys"
    | "too_many_open_orders"
    | "too_many_streams"
    | "too_many_tokens"
    | "too_many_webhooks"
    | "too_much_to_fold"
    | "transfer_restricted"
    | "unavailable"
    | "unexpected_consideration"
    | "unknown_collection"
    | "unknown_parameter"
    | "unsupported_chain"
    | "unsupported_currency"
    | "unsupported_item_type"
    | "unsupported_marketplace"
    | "unsupported_media_type"
    | "unsupported_name"
    | "unsupported_order"
    | "unsupported_order_type"
    | "upstream_error"
    | "use_cursor"
    | "webhook_not_found"
    | "wrong_code"
    | "wrong_conduit"
    | "wrong_protocol"
    | "wrong_signature"
    | "zero_price"
    | "zone_not_allowed";
