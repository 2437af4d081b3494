// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";
import {Metadata} from "./Metadata.sol";

/// An ERC-1155 that anyone may mint, with a royalty of 5 % (ERC-2981).
contract Editions is ERC1155Burnable, ERC2981 {
    string public name;
    string public symbol;

    constructor(string memory name_, string memory symbol_, address royaltyRecipient) ERC1155("") {
        name = name_;
        symbol = symbol_;
        _setDefaultRoyalty(royaltyRecipient, 500);
    }

    function mint(address to, uint256 id, uint256 units) external {
        _mint(to, id, units, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata units) external {
        _mintBatch(to, ids, units, "");
    }

    function uri(uint256 id) public view override returns (string memory) {
        return Metadata.ofToken(name, id);
    }

    /// ERC-7572
    function contractURI() external view returns (string memory) {
        return Metadata.ofCollection(name);
    }

    function supportsInterface(bytes4 id) public view override(ERC1155, ERC2981) returns (bool) {
        return ERC1155.supportsInterface(id) || ERC2981.supportsInterface(id);
    }
}
