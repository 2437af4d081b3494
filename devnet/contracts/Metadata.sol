// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
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
                '.","image":"', image(color, id),
                '","attributes":', attributes(color, id), "}"
            )
        );
    }

    function ofCollection(string memory collection) internal pure returns (string memory) {
        return json(
            string.concat(
                '{"name":"', collection, '","description":"', collection,
                ', on a local chain.","image":"', image("Silver", 0), '"}'
            )
        );
    }

    /// Two in three tokens wear nothing; the rarer the color, the fewer carry it.
    function attributes(string memory color, uint256 id) private pure returns (string memory) {
        string memory hat = id % 3 != 0
            ? ""
            : string.concat('{"trait_type":"Hat","value":"', id % 2 == 0 ? "Beanie" : "Top Hat", '"},');
        return string.concat(
            '[{"trait_type":"Background","value":"', color, '"},', hat,
            '{"trait_type":"Level","display_type":"number","value":', (id * 37 % 100 + 1).toString(),
            '},{"trait_type":"Speed","display_type":"boost_percentage","value":', (id % 10 * 5).toString(), "}]"
        );
    }

    function background(uint256 id) private pure returns (string memory) {
        uint256 draw = uint256(keccak256(abi.encode(id))) % 100;
        if (draw < 40) return "SkyBlue";
        if (draw < 70) return "Salmon";
        if (draw < 90) return "Olive";
        if (draw < 98) return "Orchid";
        return "Gold";
    }

    function image(string memory color, uint256 id) private pure returns (string memory) {
        return data(
            "image/svg+xml",
            string.concat(
                '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9" fill="', color,
                '"/><text x="1" y="6" font-size="4">', id.toString(), "</text></svg>"
            )
        );
    }

    function json(string memory document) private pure returns (string memory) {
        return data("application/json", document);
    }

    function data(string memory mediaType, string memory content) private pure returns (string memory) {
        return string.concat("data:", mediaType, ";base64,", Base64.encode(bytes(content)));
    }
}
