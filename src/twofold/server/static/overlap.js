// How far two lists of results agree.

const P = 0.9; // how far down the overlap that counts ranks looks

// What was found, as names that two lists can be compared by.
export const idsOf = (found) => found.hits.map((hit) => `${hit.collection}/${hit.chunk_id}`);

// The share of passages that both have.
export const jaccard = (a, b) => {
  const both = a.filter((one) => b.includes(one)).length;
  const all = new Set([...a, ...b]).size;
  return all ? both / all : 1;
};

// Rank-biased overlap of two lists (Webber, Moffat, Zobel 2010), extrapolated: 1 where both are the same. Where one list
// ends before the other, what it might have held is taken as different.
export const rankBiasedOverlap = (a, b, p = P) => {
  const depth = Math.max(a.length, b.length);
  if (!depth) return 1;
  let sum = 0;
  let common = 0;
  for (let d = 1; d <= depth; d += 1) {
    common = a.slice(0, d).filter((one) => b.slice(0, d).includes(one)).length;
    sum += (common / d) * p ** d;
  }
  return (common / depth) * p ** depth + ((1 - p) / p) * sum;
};
