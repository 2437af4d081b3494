// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// An ERC-721 whose documents anyone may change, with every event by which a contract may say so.
contract ChangingCollection is ERC721 {
    using Strings for uint256;

    event MetadataUpdate(uint256 _tokenId);
    event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId);
    event ContractURIUpdated();
    event TraitUpdated(bytes32 indexed traitKey, uint256 tokenId, bytes32 traitValue);
    event TraitUpdatedRange(bytes32 indexed traitKey, uint256 fromTokenId, uint256 toTokenId);
    event TraitUpdatedRangeUniformValue(
        bytes32 indexed traitKey, uint256 fromTokenId, uint256 toTokenId, bytes32 traitValue
    );
    event TraitUpdatedList(bytes32 indexed traitKey, uint256[] tokenIds);
    event TraitUpdatedListUniformValue(bytes32 indexed traitKey, uint256[] tokenIds, bytes32 traitValue);
    event TraitMetadataURIUpdated();

    string public word = "hidden";
    mapping(uint256 => string) private wordOf;

    constructor() ERC721("Changing", "CHG") {}

    function mint(address to, uint256 fromId, uint256 count) external {
        for (uint256 id = fromId; id < fromId + count; id++) _mint(to, id);
    }

    /// Without an event.
    function set(uint256 id, string calldata to) public {
        wordOf[id] = to;
    }

    function update(uint256 id, string calldata to) external {
        set(id, to);
        emit MetadataUpdate(id);
    }

    /// As contracts that have the id as a topic: Solidity has one event of a name and its types alone.
    function updateIndexed(uint256 id, string calldata to) external {
        set(id, to);
        bytes32 signature = MetadataUpdate.selector;
        assembly {
            log2(0, 0, signature, id)
        }
    }

    function reveal(string calldata to, uint256 fromId, uint256 toId) external {
        word = to;
        emit BatchMetadataUpdate(fromId, toId);
    }

    function rename(string calldata to) external {
        word = to;
        emit ContractURIUpdated();
    }

    function updateTrait(uint256 id, string calldata to) external {
        set(id, to);
        emit TraitUpdated("level", id, bytes32(id));
    }

    function updateTraits(uint256[] calldata ids, string calldata to) external {
        for (uint256 i = 0; i < ids.length; i++) set(ids[i], to);
        emit TraitUpdatedList("level", ids);
        emit TraitUpdatedListUniformValue("size", ids, "7");
    }

    function updateTraitRange(uint256 fromId, uint256 toId, string calldata to) external {
        for (uint256 id = fromId; id <= toId; id++) set(id, to);
        emit TraitUpdatedRange("level", fromId, toId);
        emit TraitUpdatedRangeUniformValue("size", fromId, toId, "7");
    }

    function describeTraits() external {
        emit TraitMetadataURIUpdated();
    }

    function tokenURI(uint256 id) public view override returns (string memory) {
        string memory own = wordOf[id];
        return document(string.concat(id.toString(), " ", bytes(own).length > 0 ? own : word));
    }

    function contractURI() external view returns (string memory) {
        return document(word);
    }

    function document(string memory name) private pure returns (string memory) {
        return string.concat('data:application/json;utf8,{"name":"', name, '"}');
    }
}

/// An ERC-1155 that gives each id a document of its own, and says so.
contract ChangingEditions is ERC1155 {
    mapping(uint256 => string) private uriOf;

    constructor() ERC1155('data:application/json;utf8,{"name":"Edition"}') {}

    function mint(address to, uint256 id, uint256 units) external {
        _mint(to, id, units, "");
    }

    function setUri(uint256 id, string calldata value) external {
        uriOf[id] = value;
        emit URI(value, id);
    }

    function uri(uint256 id) public view override returns (string memory) {
        string memory own = uriOf[id];
        return bytes(own).length > 0 ? own : super.uri(id);
    }
}
