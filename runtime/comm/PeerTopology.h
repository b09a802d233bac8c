//===- PeerTopology.h - Which ranks watch each other ----------------------===//
//
// Rank r is linked to r + 1, r + 8, r + 64, ... and to those of which it is the r + 8^k, around a ring. A
// rank that dies is so seen by all who are linked to it, and news reach everybody in a few hops: 4,096 ranks
// have 8 links each and are at most 16 hops apart. A ring alone would need 2,048 hops, and would fall apart
// where two ranks die; a tree falls apart where one does; links between all would be 8 million.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_PEERTOPOLOGY_H
#define WEFT_RUNTIME_COMM_PEERTOPOLOGY_H

#include <vector>

namespace weft {

/// The ranks that `rank` of `ranks` is linked to, ascending. Symmetric.
std::vector<int> linkedRanks(int rank, int ranks);

} // namespace weft

#endif // WEFT_RUNTIME_COMM_PEERTOPOLOGY_H
