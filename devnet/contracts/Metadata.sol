// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {Art} from "./Art.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// Token and collection documents as data URIs. Everything follows from the name and the id.
library Metadata {
    using Strings for uint256;

    function ofToken(string memory collection, uint256 id) internal pure returns (string memory) {
        string memory color = background(id);
        return json(
            string.concat(
                '{"name":"', collection, " #", id.toString(),
                '","description":"Number ', id.toString(), " of ", collection,
                '.","image":"', image(collection, color, id),
                '","attributes":', attributes(color, id), "}"
            )
        );
    }

    function ofCollection(string memory collection) internal pure returns (string memory) {
        return json(
            string.concat(
                '{"name":"', collection, '","description":"', collection,
                ', on a local chain.","image":"', image(collection, "Silver", 0), '"}'
            )
        );
    }

    /// Two in three tokens wear nothing; the rarer the color, the fewer carry it.
    function attributes(string memory color, uint256 id) private pure returns (string memory) {
        Art.Hat worn = hat(id);
        string memory hatTrait = worn == Art.Hat.None
            ? ""
            : string.concat('{"trait_type":"Hat","value":"', worn == Art.Hat.Beanie ? "Beanie" : "Top Hat", '"},');
        return string.concat(
            '[{"trait_type":"Background","value":"', color, '"},', hatTrait,
            '{"trait_type":"Level","display_type":"number","value":', (id * 37 % 100 + 1).toString(),
            '},{"trait_type":"Speed","display_type":"boost_percentage","value":', (id % 10 * 5).toString(), "}]"
        );
    }

    function hat(uint256 id) private pure returns (Art.Hat) {
        if (id == 0 || id % 3 != 0) return Art.Hat.None;
        return id % 2 == 0 ? Art.Hat.Beanie : Art.Hat.TopHat;
    }

    function background(uint256 id) private pure returns (string memory) {
        uint256 draw = uint256(keccak256(abi.encode(id))) % 100;
        if (draw < 40) return "SkyBlue";
        if (draw < 70) return "Salmon";
        if (draw < 90) return "Olive";
        if (draw < 98) return "Orchid";
        return "Gold";
    }

    function image(string memory collection, string memory color, uint256 id) private pure returns (string memory) {
        return data("image/svg+xml", Art.draw(collection, id, tint(color), hat(id)));
    }

    /// Softer than the colors of these names.
    function tint(string memory color) private pure returns (string memory) {
        bytes1 first = bytes(color)[0];
        if (first == "S") return bytes(color)[1] == "k" ? "#a5d4f0" : bytes(color)[1] == "a" ? "#f5ab94" : "#d4dae2";
        if (first == "O") return bytes(color)[1] == "l" ? "#b5bf74" : "#d6a3dc";
        return "#f3cd58";
    }

    function json(string memory document) private pure returns (string memory) {
        return data("application/json", document);
    }

    function data(string memory mediaType, string memory content) private pure returns (string memory) {
        return string.concat("data:", mediaType, ";base64,", Base64.encode(bytes(content)));
    }
}
