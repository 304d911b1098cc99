/* The hot loops. `_kernels_numpy.py` describes every function and is its oracle: both give the same bits.
 *
 * What holds throughout:
 * - Stable ABI of Python 3.11, arrays through the buffer protocol; numpy is called only to make the results.
 * - Loops of more than about 100 µs run without the GIL, on arrays that another thread, or another process with the same file mapped, might
 *   change meanwhile. So no value read from an array becomes an index unmasked or unchecked: a damaged file gives
 *   ValueError or a wrong number, never a wrong address.
 * - Floating point is IEEE in the order written (-ffp-contract=off): vector width changes nothing.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#include <immintrin.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#endif

/* Multiversioning needs the loader's indirect functions, which glibc has. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif
#if defined(__GNUC__)
#define POPCOUNT(bits) __builtin_popcountll(bits)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
static uint64_t POPCOUNT(uint64_t bits)
{
    bits -= (bits >> 1) & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
    return (((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56;
}
#endif

enum {
    BLOCK = 16384, /* slots scored together: 128 kB of scores, which stay in the second-level cache; a power of two */
    GROUP = 16,    /* scores compared at once */
    FEW = 6,       /* a block with fewer than one posting in six slots is gathered by posting, not by slot */
    LANES = 8,     /* rows whose bits stand side by side */
    AHEAD = 8,     /* rows fetched before they are needed */
    ROWS_AHEAD = 12, /* the same of codes, which are a few cache lines each */
    BITS_AHEAD = 48, /* cache lines of first bits; they are read in order, but no page is fetched before it is reached */
    NUMBERS_AHEAD = 512, /* rows, of their scales, offsets and spreads: a million rows are read from memory */
    FINE_AHEAD = 24, /* the same of second bits, which are one or two */
    PLANES = 4,    /* bits of a dimension of the query */
    BINS = 2048,   /* of estimates: a thousandth each */
    CHOSEN = 1024, /* rows that are refined together */
    WIDEST = 131071 /* 131071 * 128 * 128 < 2^31 */
};

#define MIN_STEP 1e-30 /* between the levels of a query that is the center itself */

enum failure { FINE = 0, NO_MEMORY, OUT_OF_RANGE, NOT_RISING, OUTSIDE };

static PyObject *fail(enum failure failure)
{
    switch (failure) {
    case NO_MEMORY:
        return PyErr_NoMemory();
    case OUT_OF_RANGE:
        PyErr_SetString(PyExc_ValueError, "a slot is out of range");
        return NULL;
    case OUTSIDE:
        PyErr_SetString(PyExc_ValueError, "the terms of a passage lie outside the index");
        return NULL;
    default:
        PyErr_SetString(PyExc_ValueError, "the slots of a term do not rise");
        return NULL;
    }
}

/* ---- The best k: a buffer of candidates, cut to the k-th best whenever it is full. ---- */

typedef struct {
    double *scores;
    uint32_t *slots;
    uint64_t *keys; /* scratch of `cut` */
    size_t size, capacity, k;
    double threshold; /* what a newcomer must reach */
    uint32_t base;    /* added to the slots that come in, which then count over several segments */
} Best;

static void best_free(Best *best)
{
    free(best->scores);
    free(best->slots);
    free(best->keys);
}

static enum failure best_reserve(Best *best, size_t capacity)
{
    double *scores = realloc(best->scores, capacity * sizeof *scores);
    if (scores == NULL) return NO_MEMORY;
    best->scores = scores;
    uint32_t *slots = realloc(best->slots, capacity * sizeof *slots);
    if (slots == NULL) return NO_MEMORY;
    best->slots = slots;
    uint64_t *keys = realloc(best->keys, capacity * sizeof *keys);
    if (keys == NULL) return NO_MEMORY;
    best->keys = keys;
    best->capacity = capacity;
    return FINE;
}

static enum failure best_init(Best *best, size_t k, size_t count, double threshold)
{
    memset(best, 0, sizeof *best);
    best->k = k < count ? k : (count ? count : 1);
    best->threshold = threshold;
    size_t most = 4 * best->k + 1024;
    return best_reserve(best, most < count ? most : count + 1);
}

/* A double's bits, changed so that they order as unsigned numbers as the doubles do. */
INLINE uint64_t key_of(double score)
{
    uint64_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

INLINE double score_of(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

/* The k-th largest key, byte by byte from the top: linear time whatever the keys. 1 <= k <= count. */
static uint64_t kth_largest(uint64_t *keys, size_t count, size_t k)
{
    for (int shift = 56; shift >= 0 && count > 1; shift -= 8) {
        size_t histogram[256] = {0};
        for (size_t i = 0; i < count; i++) histogram[keys[i] >> shift & 255]++;
        unsigned digit = 255;
        while (histogram[digit] < k) k -= histogram[digit--];
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t key = keys[i];
            keys[kept] = key;
            kept += (key >> shift & 255) == digit;
        }
        count = kept;
    }
    return keys[0];
}

/* Raise the threshold to the k-th best and drop what is below; ties stay. Order is kept. */
static void best_cut(Best *best)
{
    if (best->size <= best->k) return;
    for (size_t i = 0; i < best->size; i++) best->keys[i] = key_of(best->scores[i]);
    double kth = score_of(kth_largest(best->keys, best->size, best->k));
    if (kth > best->threshold) best->threshold = kth;
    size_t kept = 0;
    for (size_t i = 0; i < best->size; i++) {
        double score = best->scores[i];
        best->scores[kept] = score;
        best->slots[kept] = best->slots[i];
        kept += score >= kth;
    }
    best->size = kept;
}

INLINE enum failure best_add(Best *best, uint32_t slot, double score)
{
    if (best->size == best->capacity) {
        best_cut(best);
        if (best->size > best->capacity / 2) {
            enum failure failure = best_reserve(best, best->capacity * 2);
            if (failure) return failure;
        }
        if (!(score >= best->threshold)) return FINE;
    }
    best->scores[best->size] = score;
    best->slots[best->size++] = best->base + slot;
    return FINE;
}

/* ---- BM25, a term at a time over blocks of slots. ---- */

typedef struct {
    const uint32_t *slots;
    const uint16_t *frequencies;
    int64_t at, run, end; /* what is scored begins at `at`; [at, run) lies in the present block */
    double weight;
} Term;

/* Where the first slot of at least `limit` stands: right if the slots rise, and in [at, end] in any case. */
static int64_t first_from(const uint32_t *slots, int64_t at, int64_t end, uint32_t limit)
{
    int64_t step = 1, low = at, high = end;
    while (low + step < end && slots[low + step] < limit) {
        low += step;
        step *= 2;
    }
    if (low + step < end) high = low + step;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (slots[middle] < limit) low = middle + 1;
        else high = middle;
    }
    return low;
}

CLONES static int rising(const uint32_t *slots, int64_t count)
{
    uint32_t falls = 0;
    for (int64_t i = 0; i + 1 < count; i++) falls |= slots[i] >= slots[i + 1];
    return !falls;
}

/* Slots rise, so no score is added to twice; the mask keeps the address in the block whatever they are. */
CLONES static void accumulate(const uint32_t *restrict slots, const uint16_t *restrict frequencies, int64_t count,
                              uint32_t base, const double *restrict norms, double *restrict scores, double weight,
                              double most)
{
    INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
        uint32_t place = (slots[i] - base) & (BLOCK - 1);
        double often = frequencies[i];
        scores[place] += weight * (often * most / (often + norms[place]));
    }
}

/* Raise the threshold to what k slots of a block reach at least: the k-th largest of the bests of groups of slots. */
CLONES static void raise_to_groups(const double *scores, uint32_t length, uint64_t *keys, Best *best)
{
    size_t count = 0;
    for (uint32_t first = 0; first < length; first += GROUP) {
        double most = 0.0;
        for (uint32_t i = 0; i < GROUP; i++) most = scores[first + i] > most ? scores[first + i] : most;
        keys[count] = key_of(most);
        count += most >= best->threshold;
    }
    if (count < best->k) return;
    double reached = score_of(kth_largest(keys, count, best->k));
    if (reached > best->threshold) best->threshold = reached;
}

CLONES static void drop_forbidden(const uint8_t *restrict allowed, uint32_t length, double *restrict scores)
{
    for (uint32_t i = 0; i < length; i++) scores[i] = allowed[i] ? scores[i] : 0.0;
}

static enum failure gather_by_posting(const Term *terms, Py_ssize_t count, uint32_t base, double *scores,
                                      const uint8_t *allowed, uint32_t length, Best *best)
{
    for (Py_ssize_t t = 0; t < count; t++) {
        for (int64_t i = terms[t].at; i < terms[t].run; i++) {
            uint32_t place = (terms[t].slots[i] - base) & (BLOCK - 1);
            double score = scores[place];
            scores[place] = 0.0;
            if (score >= best->threshold && place < length && (allowed == NULL || allowed[base + place])) {
                enum failure failure = best_add(best, base + place, score);
                if (failure) return failure;
            }
        }
    }
    return FINE;
}

INLINE int any_reaches(const double *scores, double threshold)
{
    int64_t any = 0; /* as wide as a score, so that compilers compare in vectors */
    for (int i = 0; i < GROUP; i++) any |= scores[i] >= threshold;
    return any != 0;
}

/* Scores of slots that may not be found are zero here, and those after `length` as well. */
CLONES static enum failure gather_by_slot(uint32_t base, double *scores, uint32_t length, Best *best)
{
    for (uint32_t first = 0; first < length; first += GROUP) {
        if (!any_reaches(scores + first, best->threshold)) continue;
        for (uint32_t place = first; place < first + GROUP && place < length; place++) {
            if (scores[place] >= best->threshold) {
                enum failure failure = best_add(best, base + place, scores[place]);
                if (failure) return failure;
            }
        }
    }
    memset(scores, 0, BLOCK * sizeof *scores);
    return FINE;
}

/* Score one block; `padded` are scratch norms for a last block that is not full. */
static enum failure score_block(Term *terms, Py_ssize_t count, uint32_t base, uint32_t length, const double *norms,
                                double *padded, double *scores, double most, int64_t *postings)
{
    const double *norms_here = norms + base;
    if (length < BLOCK) {
        memcpy(padded, norms_here, length * sizeof *padded);
        norms_here = padded;
    }
    *postings = 0;
    for (Py_ssize_t t = 0; t < count; t++) {
        Term *term = terms + t;
        int64_t run = first_from(term->slots, term->at, term->end, base + (length - 1));
        if (run < term->end && term->slots[run] == base + (length - 1)) run++;
        term->run = run;
        int64_t here = run - term->at;
        if (here == 0) continue;
        const uint32_t *slots = term->slots + term->at;
        if (slots[0] < base || !rising(slots, here)) return NOT_RISING;
        if (slots[here - 1] - base >= length) return NOT_RISING;
        accumulate(slots, term->frequencies + term->at, here, base, norms_here, scores, term->weight, most);
        *postings += here;
    }
    return FINE;
}

/* The first slot of the block in which scoring goes on, or `slots` when no term has postings left. */
static uint64_t next_block(const Term *terms, Py_ssize_t count, uint64_t slots)
{
    uint64_t nearest = UINT64_MAX;
    for (Py_ssize_t t = 0; t < count; t++)
        if (terms[t].at < terms[t].end && terms[t].slots[terms[t].at] < nearest) nearest = terms[t].slots[terms[t].at];
    if (nearest == UINT64_MAX) return slots;
    return nearest / BLOCK * BLOCK;
}

static enum failure score_all(Term *terms, Py_ssize_t count, const double *norms, uint64_t slots, double most,
                              const uint8_t *allowed, Best *best)
{
    double *scores = calloc(2 * BLOCK, sizeof *scores);
    if (scores == NULL) return NO_MEMORY;
    uint64_t keys[BLOCK / GROUP];
    enum failure failure = FINE;
    uint64_t done = 0;
    while (!failure) {
        uint64_t base = next_block(terms, count, slots);
        if (base >= slots) {
            for (Py_ssize_t t = 0; t < count; t++)
                if (terms[t].at < terms[t].end) failure = OUT_OF_RANGE;
            break;
        }
        if (base < done) {
            failure = NOT_RISING;
            break;
        }
        uint32_t length = slots - base < BLOCK ? (uint32_t)(slots - base) : BLOCK;
        int64_t postings;
        failure = score_block(terms, count, (uint32_t)base, length, norms, scores + BLOCK, scores, most, &postings);
        if (failure) break;
        if (postings * FEW < BLOCK) {
            failure = gather_by_posting(terms, count, (uint32_t)base, scores, allowed, length, best);
        } else {
            if (allowed != NULL) drop_forbidden(allowed + base, length, scores);
            if (best->size < best->k) raise_to_groups(scores, length, keys, best);
            failure = gather_by_slot((uint32_t)base, scores, length, best);
        }
        for (Py_ssize_t t = 0; t < count; t++) terms[t].at = terms[t].run;
        done = base + BLOCK;
    }
    free(scores);
    return failure;
}

/* ---- The forward index: the terms of each passage. ---- */

#define NOWHERE UINT32_MAX /* the place of a term that a segment does not hold */

enum { SIEVED = 64, SIEVE = 128 }; /* terms at a time, and words: of the terms of a passage, 1 in 50 that a question of 150 has not gets through */

/* Says which of a question's terms stands at a place: an open table, of places that are not NOWHERE. `sieve` has a bit for
 * each of them, and for few others. */
typedef struct {
    uint32_t *places, *numbers, mask;
    uint64_t sieve[SIEVE];
} Table;

static uint32_t spread(uint32_t place) { return (place * 2654435761u) >> 7; }

static uint64_t passes(const Table *table, uint32_t at) { return table->sieve[at / 64 % SIEVE] >> at % 64 & 1; }

static enum failure table_open(Table *table, Py_ssize_t count)
{
    uint32_t size = 64;
    while (size < 4 * (uint64_t)count && size < UINT32_C(1) << 30) size *= 2;
    table->places = malloc(2 * (size_t)size * sizeof *table->places);
    if (table->places == NULL) return NO_MEMORY;
    table->numbers = table->places + size;
    table->mask = size - 1;
    memset(table->places, 0xff, size * sizeof *table->places);
    return FINE;
}

static enum failure table_fill(Table *table, const uint32_t *places, Py_ssize_t count)
{
    if (table_open(table, count)) return NO_MEMORY;
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t place = places[i], at = spread(place);
        if (place == NOWHERE) continue;
        table->sieve[at / 64 % SIEVE] |= UINT64_C(1) << at % 64;
        at &= table->mask;
        while (table->places[at] != NOWHERE) at = (at + 1) & table->mask;
        table->places[at] = place;
        table->numbers[at] = (uint32_t)i;
    }
    return FINE;
}

typedef struct {
    const int64_t *offsets;
    const uint32_t *terms;
    const uint16_t *frequencies;
    uint64_t passages;
    int64_t size;
} Forward;

/* Put down in `often` how often each of the table's terms occurs in a passage, and mark its bit where there are `marks`;
 * the others are left as they are. */
INLINE enum failure look_up(const Forward *forward, const Table *table, uint32_t slot, uint16_t *often, uint64_t *marks)
{
    if (slot >= forward->passages) return OUT_OF_RANGE;
    int64_t start = forward->offsets[slot], end = forward->offsets[slot + 1];
    if (start < 0 || end < start || end > forward->size) return OUTSIDE;
    for (int64_t first = start; first < end; first += SIEVED) {
        int64_t last = end - first < SIEVED ? end : first + SIEVED;
        uint8_t some[SIEVED]; /* without a branch for each term, which the processor would guess wrong */
        size_t count = 0;
        for (int64_t i = first; i < last; i++) {
            some[count] = (uint8_t)(i - first);
            count += passes(table, spread(forward->terms[i]));
        }
        for (size_t i = 0; i < count; i++) {
            uint32_t place = forward->terms[first + some[i]], at = spread(place) & table->mask, held;
            while ((held = table->places[at]) != NOWHERE) {
                if (held == place) {
                    uint32_t number = table->numbers[at];
                    often[number] = forward->frequencies[first + some[i]];
                    if (marks != NULL) marks[number / 64] |= UINT64_C(1) << number % 64;
                }
                at = (at + 1) & table->mask;
            }
        }
    }
    return FINE;
}

#if defined(__GNUC__)
/* Ask for the terms of passages that are looked up soon: they lie anywhere. */
INLINE void fetch_terms_ahead(const Forward *forward, const uint32_t *wanted, Py_ssize_t at, Py_ssize_t count)
{
    if (at + AHEAD < count && wanted[at + AHEAD] < forward->passages)
        __builtin_prefetch(forward->offsets + wanted[at + AHEAD]);
    if (at + AHEAD / 2 >= count || wanted[at + AHEAD / 2] >= forward->passages) return;
    int64_t start = forward->offsets[wanted[at + AHEAD / 2]], end = forward->offsets[wanted[at + AHEAD / 2] + 1];
    if (start < 0 || end > forward->size || end - start > 1024) return;
    for (int64_t i = start; i < end; i += 16) __builtin_prefetch(forward->terms + i);
    for (int64_t i = start; i < end; i += 32) __builtin_prefetch(forward->frequencies + i);
}
#else
#define fetch_terms_ahead(forward, wanted, at, count) ((void)0)
#endif

static enum failure occurrences_in(const Forward *forward, const uint32_t *places, Py_ssize_t terms,
                                   const uint32_t *wanted, Py_ssize_t count, uint16_t *often)
{
    Table table = {0};
    enum failure failure = table_fill(&table, places, terms);
    if (!failure) memset(often, 0, (size_t)count * (size_t)terms * sizeof *often);
    for (Py_ssize_t i = 0; i < count && !failure; i++) {
        fetch_terms_ahead(forward, wanted, i, count);
        failure = look_up(forward, &table, wanted[i], often + i * terms, NULL);
    }
    free(table.places);
    return failure;
}

static enum failure scores_in(const Forward *forward, const uint32_t *places, const double *weights, Py_ssize_t terms,
                              const double *norms, double most, const uint32_t *wanted, Py_ssize_t count,
                              double *scores)
{
    Table table = {0};
    size_t words = ((size_t)terms + 63) / 64;
    uint16_t *often = calloc(terms ? (size_t)terms : 1, sizeof *often);
    uint64_t *marks = calloc(words + 1, sizeof *marks);
    enum failure failure = often == NULL || marks == NULL ? NO_MEMORY : table_fill(&table, places, terms);
    for (Py_ssize_t i = 0; i < count && !failure; i++) {
        uint32_t slot = wanted[i];
        fetch_terms_ahead(forward, wanted, i, count);
        failure = look_up(forward, &table, slot, often, marks);
        if (failure) break;
        double norm = norms[slot], score = 0.0;
        for (size_t word = 0; word < words; word++) {
            for (; marks[word]; marks[word] &= marks[word] - 1) { /* the question's terms in their order */
                size_t t = 64 * word + (size_t)POPCOUNT((marks[word] & -marks[word]) - 1);
                double times = often[t];
                if (times > 0.0) score += weights[t] * (times * most / (times + norm));
            }
        }
        scores[i] = score;
    }
    free(table.places);
    free(marks);
    free(often);
    return failure;
}

/* Turn postings over: `offsets` (terms + 1) and `slots` to the terms of each of `count` passages, by rising term. */
static enum failure turned_over(const int64_t *offsets, uint32_t terms, const uint32_t *slots,
                                const uint16_t *frequencies, int64_t size, int64_t *starts, int64_t count,
                                uint32_t *places, uint16_t *often)
{
    if (offsets[0] != 0 || offsets[terms] != size) return OUTSIDE;
    int64_t *next = calloc((size_t)count + 1, sizeof *next);
    if (next == NULL) return NO_MEMORY;
    enum failure failure = FINE;
    for (int64_t i = 0; i < size && !failure; i++) {
        if (slots[i] < (uint64_t)count) next[slots[i]]++;
        else failure = OUT_OF_RANGE;
    }
    starts[0] = 0;
    for (int64_t slot = 0; slot < count; slot++) {
        starts[slot + 1] = starts[slot] + next[slot];
        next[slot] = starts[slot];
    }
    for (uint32_t term = 0; term < terms && !failure; term++) {
        int64_t start = offsets[term], end = offsets[term + 1];
        if (start < 0 || end < start || end > size) failure = OUTSIDE;
        for (int64_t i = start; i < end && !failure; i++) {
            uint32_t slot = slots[i];
            int64_t at = slot < (uint64_t)count ? next[slot]++ : size;
            if (at >= size) {
                failure = OUT_OF_RANGE;
                break;
            }
            places[at] = term;
            often[at] = frequencies[i];
        }
    }
    free(next);
    return failure;
}

/* ---- Terms by their texts. ---- */

typedef struct {
    const uint8_t *texts;
    const int64_t *offsets;
    const uint64_t *hashes; /* rising */
    const uint32_t *places; /* of each hash */
    int64_t count, size;
} Dictionary;

static enum failure find_in(const Dictionary *held, const uint8_t *asked, int64_t length, uint64_t hash,
                            uint32_t *place)
{
    int64_t low = 0, high = held->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (held->hashes[middle] < hash) low = middle + 1;
        else high = middle;
    }
    *place = NOWHERE;
    for (; low < held->count && held->hashes[low] == hash; low++) {
        uint32_t at = held->places[low];
        if (at >= (uint64_t)held->count) return OUT_OF_RANGE;
        int64_t start = held->offsets[at], end = held->offsets[at + 1];
        if (start < 0 || end < start || end > held->size) return OUTSIDE;
        if (end - start != length || memcmp(held->texts + start, asked, (size_t)length)) continue;
        *place = at;
        break;
    }
    return FINE;
}

/* ---- Phrases in folded texts; `twofold.text.phrases` says what a border is. ---- */

enum verdict { NO = 0, YES = 1, UNSURE = 2 };

/* Kana, ideographs and Hangul syllables: a word may begin and end next to any of them. */
INLINE int is_free(const uint8_t *text, int64_t length, int64_t at)
{
    if (at < 0 || at + 3 > length || (text[at] & 0xf0) != 0xe0) return 0;
    if ((text[at + 1] & 0xc0) != 0x80 || (text[at + 2] & 0xc0) != 0x80) return 0;
    uint32_t code = (uint32_t)(text[at] & 15) << 12 | (uint32_t)(text[at + 1] & 63) << 6 | (text[at + 2] & 63);
    return (code >= 0x4e00 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3) ||
           (code >= 0x3041 && code <= 0x3096) || (code >= 0x30a1 && code <= 0x30fa);
}

INLINE int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
INLINE int is_word(uint8_t c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
INLINE int goes_on(uint8_t c) { return c == '.' || c == ',' || c == ':'; }

/* Whether a word may end before text[at] and another begin there; UNSURE where ASCII does not decide it. */
static enum verdict border(const uint8_t *text, int64_t length, int64_t at)
{
    if (at <= 0 || at >= length || text[at - 1] == ' ' || text[at] == ' ') return YES;
    uint8_t left = text[at - 1], right = text[at];
    if (left >= 0x80 && !is_free(text, length, at - 3)) return UNSURE;
    if (right >= 0x80 && !is_free(text, length, at)) return UNSURE;
    if (is_digit(right) && goes_on(left)) {
        if (at < 2) return YES;
        if (text[at - 2] >= 0x80) return is_free(text, length, at - 4) ? YES : UNSURE;
        return is_digit(text[at - 2]) ? NO : YES;
    }
    if (is_digit(left) && goes_on(right)) {
        if (at + 1 >= length) return YES;
        if (text[at + 1] >= 0x80) return is_free(text, length, at + 1) ? YES : UNSURE;
        return is_digit(text[at + 1]) ? NO : YES;
    }
    return is_word(left) && is_word(right) ? NO : YES;
}

typedef int64_t (*Finder)(const uint8_t *, int64_t, int64_t, const uint8_t *, int64_t);

/* Where the phrase stands next from `at` on, or -1. */
static int64_t find_in_loop(const uint8_t *text, int64_t length, int64_t at, const uint8_t *phrase, int64_t size)
{
    while (at + size <= length) {
        const uint8_t *found = memchr(text + at, phrase[0], (size_t)(length - size + 1 - at));
        if (found == NULL) return -1;
        at = found - text;
        if (memcmp(found, phrase, (size_t)size) == 0) return at;
        at++;
    }
    return -1;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
/* 64 places at once: those where the first and the last byte fit. */
__attribute__((target("avx512f,avx512bw,bmi"))) static int64_t find_in_blocks(const uint8_t *text, int64_t length,
                                                                              int64_t at, const uint8_t *phrase,
                                                                              int64_t size)
{
    const __m512i first = _mm512_set1_epi8((char)phrase[0]), last = _mm512_set1_epi8((char)phrase[size - 1]);
    for (; at + size <= length; at += 64) {
        int64_t places = length - size + 1 - at;
        __mmask64 open = places >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << places) - 1;
        __mmask64 fits = _mm512_mask_cmpeq_epi8_mask(open, _mm512_maskz_loadu_epi8(open, text + at), first);
        fits = _mm512_mask_cmpeq_epi8_mask(fits, _mm512_maskz_loadu_epi8(open, text + at + size - 1), last);
        for (; fits; fits &= fits - 1) {
            int64_t place = at + __builtin_ctzll(fits);
            if (memcmp(text + place, phrase, (size_t)size) == 0) return place;
        }
    }
    return -1;
}

static Finder finder(void) { return __builtin_cpu_supports("avx512bw") ? find_in_blocks : find_in_loop; }
#else
static Finder finder(void) { return find_in_loop; }
#endif

static enum verdict stands_in(Finder find, const uint8_t *text, int64_t length, const uint8_t *phrase, int64_t size)
{
    enum verdict best = NO;
    for (int64_t at = find(text, length, 0, phrase, size); at >= 0; at = find(text, length, at + 1, phrase, size)) {
        enum verdict before = border(text, length, at);
        enum verdict after = before == NO ? NO : border(text, length, at + size);
        if (before == YES && after == YES) return YES;
        if (before != NO && after != NO) best = UNSURE;
    }
    return best;
}

/* ---- Scans. ---- */

CLONES static enum failure scan_scores(const float *scores, uint64_t count, const uint8_t *allowed, Best *best)
{
    for (uint64_t i = 0; i < count; i++) {
        if (i % GROUP == 0 && i + GROUP <= count) {
            float threshold = (float)best->threshold; /* exact: it came from a float, or is infinite */
            int any = 0;
            for (int j = 0; j < GROUP; j++) any |= scores[i + j] >= threshold;
            if (!any) {
                i += GROUP - 1;
                continue;
            }
        }
        if (scores[i] >= best->threshold && (allowed == NULL || allowed[i])) {
            enum failure failure = best_add(best, (uint32_t)i, scores[i]);
            if (failure) return failure;
        }
    }
    return FINE;
}

/* Products of codes, exact. `slots` are the chosen rows, or NULL for the first `count`. */
typedef struct {
    const int8_t *query, *rows;
    size_t width;
    const uint32_t *slots;
    uint64_t count, held; /* `held` slots are there, of which `count` are multiplied now; 0 for no more than these */
} Products;

#if defined(__GNUC__)
INLINE void fetch_ahead(const Products *of, uint64_t at)
{
    if (of->slots == NULL || at + ROWS_AHEAD >= (of->held ? of->held : of->count)) return;
    const int8_t *next = of->rows + (size_t)of->slots[at + ROWS_AHEAD] * of->width;
    for (size_t i = 0; i < of->width; i += 64) __builtin_prefetch(next + i);
}
#else
#define fetch_ahead(of, at) ((void)0)
#endif

INLINE const int8_t *row_of(const Products *of, uint64_t at)
{
    return of->rows + (size_t)(of->slots == NULL ? at : of->slots[at]) * of->width;
}

CLONES static void dots_in_loop(const Products *of, int32_t *restrict dots)
{
    const int8_t *restrict query = of->query;
    size_t width = of->width;
    for (uint64_t i = 0; i < of->count; i++) {
        fetch_ahead(of, i);
        const int8_t *restrict row = row_of(of, i);
        int32_t dot = 0;
        for (size_t j = 0; j < width; j++) dot += (int32_t)query[j] * row[j];
        dots[i] = dot;
    }
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#define WITH_VNNI __attribute__((target("avx512f,avx512vl,avx512bw,avx512vnni")))

/* One instruction multiplies 64 pairs, of which the first must be unsigned: rows are shifted by 128 and the sum put
 * right, modulo 2^32. */
WITH_VNNI static void dots_by_vnni(const Products *of, int32_t *restrict dots)
{
    const __m512i shift = _mm512_set1_epi8((char)0x80);
    size_t width = of->width, whole = width - width % 64;
    __mmask64 rest = ((__mmask64)1 << (width % 64)) - 1;
    __m512i last = _mm512_maskz_loadu_epi8(rest, of->query + whole);
    uint32_t total = 0;
    for (size_t j = 0; j < width; j++) total += (uint32_t)(int32_t)of->query[j];
    for (uint64_t i = 0; i < of->count; i++) {
        fetch_ahead(of, i);
        const int8_t *row = row_of(of, i);
        __m512i sums = _mm512_setzero_si512();
        for (size_t j = 0; j < whole; j += 64)
            sums = _mm512_dpbusd_epi32(sums, _mm512_xor_si512(_mm512_loadu_si512(row + j), shift),
                                       _mm512_loadu_si512(of->query + j));
        if (rest)
            sums = _mm512_dpbusd_epi32(
                sums, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, row + whole), shift), last);
        dots[i] = (int32_t)((uint32_t)_mm512_reduce_add_epi32(sums) - 128u * total);
    }
}

static void dots_of(const Products *of, int32_t *dots)
{
    int has_vnni = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl");
    (has_vnni ? dots_by_vnni : dots_in_loop)(of, dots);
}
#else
static void dots_of(const Products *of, int32_t *dots) { dots_in_loop(of, dots); }
#endif

/* ---- One bit a dimension: rows stand in blocks of LANES, word by word, so that one vector holds a word of each. ---- */

/* Sum the levels of the query where bits of each row are set. */
INLINE void bits_of_block(const uint64_t *restrict planes, const uint64_t *restrict block, size_t words,
                          int32_t *restrict sums)
{
    uint64_t first[LANES] = {0}, second[LANES] = {0}, third[LANES] = {0}, fourth[LANES] = {0};
    for (size_t word = 0; word < words; word++) {
        uint64_t a = planes[word], b = planes[words + word], c = planes[2 * words + word], d = planes[3 * words + word];
        for (size_t lane = 0; lane < LANES; lane++) {
            uint64_t bits = block[word * LANES + lane];
            first[lane] += (uint64_t)POPCOUNT(bits & a);
            second[lane] += (uint64_t)POPCOUNT(bits & b);
            third[lane] += (uint64_t)POPCOUNT(bits & c);
            fourth[lane] += (uint64_t)POPCOUNT(bits & d);
        }
    }
    for (size_t lane = 0; lane < LANES; lane++)
        sums[lane] = (int32_t)(first[lane] + 2 * second[lane] + 4 * third[lane]) - 8 * (int32_t)fourth[lane];
}

/* What a row's estimate and its bound are made of; `spread` and `scale` times a row's own numbers are deviations. */
typedef struct {
    float base, gain, less, spread, scale;
} Scaling;

/* `fine` are `stride` words a row: its second bits, and its own numbers for both bits together. */
typedef struct {
    const uint64_t *bits;
    const float *scales, *offsets, *spreads;
    const uint64_t *fine;
    size_t stride;
    const uint8_t *allowed;
    uint64_t count;
    uint32_t first; /* its first row among those of all segments */
} BitRows;

/* How many estimates lie in each of BINS stretches from -1 to 1, as far as they may be among the best. */
typedef struct {
    uint32_t counts[BINS];
    uint64_t above; /* how many lie in `lowest` and above */
    int lowest;
} Histogram;

/* What a scan writes down of the rows that can reach `least`: which they are, the most that the score of each can be, and its
 * product with the query. There is room for GROUP rows more than are scanned. */
typedef struct {
    uint32_t *rows;
    float *bounds, *inners;
    size_t size, room;
} Reaching;

/* The rows whose estimates reach `guess` are noted: where they stand among those that can reach `least`, and the estimate. */
typedef struct {
    Histogram histogram;
    Reaching reaching;
    uint32_t *places;
    float *estimates;
    size_t noted, room;
    float least, guess;
} Scan;

INLINE void note_estimate(Scan *own, size_t place, float score)
{
    Histogram *in = &own->histogram;
    float at = (score + 1.0f) * (BINS / 2);
    int bin = at > 0.0f ? at < BINS - 1 ? (int)at : BINS - 1 : 0; /* NaN is in none that counts */
    in->counts[bin]++;
    in->above += bin >= in->lowest;
    own->places[own->noted] = (uint32_t)place;
    own->estimates[own->noted++] = score;
}

/* A score that `most` of the counted ones reach, or a few more. */
static float best_of(Histogram *in, uint64_t most)
{
    while (in->lowest < BINS - 1 && in->above - in->counts[in->lowest] >= most) in->above -= in->counts[in->lowest++];
    return in->lowest ? (float)in->lowest / (BINS / 2) - 1.0f : -INFINITY;
}

/* The levels of a turned query, -8 to 7, as PLANES bit planes of their two's complement, and what makes its product of sums. */
static Scaling planes_of(const float *turned, size_t width, double base, double by_spread, double by_scale,
                         uint64_t *planes)
{
    double step = MIN_STEP;
    for (size_t i = 0; i < width; i++) {
        double least = turned[i] / (turned[i] < 0.0f ? -8.0 : 7.0);
        step = least > step ? least : step;
    }
    float by = (float)step;
    size_t words = width / 64;
    int64_t sum = 0;
    memset(planes, 0, PLANES * words * sizeof *planes);
    for (size_t i = 0; i < width; i++) {
        float level = rintf(turned[i] / by);
        int64_t whole = level >= -8.0f && level <= 7.0f ? (int64_t)level : 0; /* NaN is no level */
        sum += whole;
        for (int plane = 0; plane < PLANES; plane++)
            planes[(size_t)plane * words + i / 64] |= ((uint64_t)whole >> plane & 1) << (i % 64);
    }
    return (Scaling){(float)base, (float)(2.0 * step), (float)(step * (double)sum), (float)by_spread, (float)(by_scale * step)};
}

INLINE float slack_of(float spread, float scale, Scaling by)
{
    float one = spread * by.spread, other = scale * by.scale;
    return sqrtf(one * one + other * other);
}

/* Write down the rows that can reach the least, counted over all segments, of one block after the other. */
INLINE void bits_reaching_over(const uint64_t *planes, const BitRows *rows, size_t words, uint64_t from, Scaling by, Scan *own)
{
    const uint64_t *bits = rows->bits + from / LANES * words * LANES;
    Reaching into = own->reaching;
    for (uint64_t first = from; first < rows->count; first += LANES, bits += words * LANES) {
        int32_t sums[LANES];
        bits_of_block(planes, bits, words, sums);
        uint64_t lanes = rows->count - first < LANES ? rows->count - first : LANES;
        for (uint64_t lane = 0; lane < lanes; lane++) {
            uint64_t row = first + lane;
            float inner = by.gain * (float)sums[lane] - by.less;
            float score = rows->offsets[row] + by.base + rows->scales[row] * inner;
            float bound = score + slack_of(rows->spreads[row], rows->scales[row], by);
            if (!(bound >= own->least) || (rows->allowed != NULL && !rows->allowed[row])) continue;
            if (score >= own->guess) note_estimate(own, into.size, score);
            into.rows[into.size] = rows->first + (uint32_t)row;
            into.inners[into.size] = inner;
            into.bounds[into.size++] = bound;
        }
    }
    own->reaching.size = into.size;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
/* The same where one instruction counts the bits of eight words: two blocks at a time. */
#define AT_ONCE __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512vpopcntdq")))

/* Count what two blocks share with a word of a plane. */
#define COUNT_SHARED(plane, one, other) \
    do { \
        __m512i held = _mm512_set1_epi64((long long)(plane)); \
        one = _mm512_add_epi64(one, _mm512_popcnt_epi64(_mm512_and_si512(row, held))); \
        other = _mm512_add_epi64(other, _mm512_popcnt_epi64(_mm512_and_si512(next, held))); \
    } while (0)

/* a + 2 b + 4 c - 8 d */
AT_ONCE INLINE __m256i weighed(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i low = _mm512_add_epi64(a, _mm512_slli_epi64(b, 1));
    __m512i high = _mm512_sub_epi64(_mm512_slli_epi64(c, 2), _mm512_slli_epi64(d, 3));
    return _mm512_cvtepi64_epi32(_mm512_add_epi64(low, high));
}

/* The sums of the GROUP rows of two blocks. */
AT_ONCE INLINE __m512 summed_levels(const uint64_t *planes, const uint64_t *bits, size_t words)
{
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (size_t word = 0; word < words; word++) {
        const uint64_t *at = bits + word * LANES;
        __m512i row = _mm512_loadu_si512(at), next = _mm512_loadu_si512(at + words * LANES);
        _mm_prefetch((const char *)(at + BITS_AHEAD * LANES), _MM_HINT_T0);
        _mm_prefetch((const char *)(at + (BITS_AHEAD + words) * LANES), _MM_HINT_T0);
        COUNT_SHARED(planes[word], a, e);
        COUNT_SHARED(planes[words + word], b, f);
        COUNT_SHARED(planes[2 * words + word], c, g);
        COUNT_SHARED(planes[3 * words + word], d, h);
    }
    return _mm512_cvtepi32_ps(_mm512_inserti64x4(_mm512_castsi256_si512(weighed(a, b, c, d)), weighed(e, f, g, h), 1));
}

AT_ONCE INLINE void bits_reaching_by(const uint64_t *planes, const BitRows *rows, size_t words, Scaling by, Scan *own)
{
    uint64_t whole = rows->count - rows->count % GROUP;
    const uint64_t *bits = rows->bits;
    Reaching into = own->reaching;
    const __m512 base = _mm512_set1_ps(by.base), gain = _mm512_set1_ps(by.gain), less = _mm512_set1_ps(by.less);
    const __m512 by_spread = _mm512_set1_ps(by.spread), by_scale = _mm512_set1_ps(by.scale);
    const __m512 least = _mm512_set1_ps(own->least), guess = _mm512_set1_ps(own->guess);
    const __m512i lanes = _mm512_add_epi32(_mm512_set1_epi32((int)rows->first),
                                           _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (uint64_t first = 0; first < whole; first += GROUP, bits += words * GROUP) {
        _mm_prefetch((const char *)(rows->scales + first + NUMBERS_AHEAD), _MM_HINT_T0);
        _mm_prefetch((const char *)(rows->offsets + first + NUMBERS_AHEAD), _MM_HINT_T0);
        _mm_prefetch((const char *)(rows->spreads + first + NUMBERS_AHEAD), _MM_HINT_T0);
        __m512 inner = _mm512_sub_ps(_mm512_mul_ps(gain, summed_levels(planes, bits, words)), less);
        __m512 scales = _mm512_loadu_ps(rows->scales + first), spreads = _mm512_loadu_ps(rows->spreads + first);
        __m512 offset = _mm512_add_ps(_mm512_loadu_ps(rows->offsets + first), base);
        __m512 score = _mm512_add_ps(offset, _mm512_mul_ps(scales, inner));
        __m512 one = _mm512_mul_ps(spreads, by_spread), other = _mm512_mul_ps(scales, by_scale);
        __m512 slack = _mm512_sqrt_ps(_mm512_add_ps(_mm512_mul_ps(one, one), _mm512_mul_ps(other, other)));
        __m512 bounds = _mm512_add_ps(score, slack);
        __mmask16 reach = _mm512_cmp_ps_mask(bounds, least, _CMP_GE_OQ);
        if (!reach) continue;
        if (rows->allowed != NULL) {
            __m128i open = _mm_loadu_si128((const __m128i *)(rows->allowed + first));
            reach &= _mm_test_epi8_mask(open, open);
        }
        __m512i places = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)first));
        _mm512_storeu_si512(into.rows + into.size, _mm512_maskz_compress_epi32(reach, places));
        _mm512_storeu_ps(into.bounds + into.size, _mm512_maskz_compress_ps(reach, bounds));
        _mm512_storeu_ps(into.inners + into.size, _mm512_maskz_compress_ps(reach, inner));
        unsigned best = _mm512_mask_cmp_ps_mask(reach, score, guess, _CMP_GE_OQ);
        if (best) {
            float scores[GROUP];
            _mm512_storeu_ps(scores, score);
            for (; best; best &= best - 1) {
                unsigned below = (best & (0u - best)) - 1;
                note_estimate(own, into.size + (size_t)__builtin_popcount(reach & below), scores[__builtin_ctz(best)]);
            }
        }
        into.size += (size_t)__builtin_popcount(reach);
    }
    own->reaching.size = into.size;
    bits_reaching_over(planes, rows, words, whole, by, own);
}

/* The usual widths have loops of their own, whose length is known. */
AT_ONCE static void bits_reaching_at_once(const uint64_t *planes, const BitRows *rows, size_t words, Scaling by, Scan *own)
{
    if (words == 6) bits_reaching_by(planes, rows, 6, by, own);
    else if (words == 12) bits_reaching_by(planes, rows, 12, by, own);
    else bits_reaching_by(planes, rows, words, by, own);
}

static int counts_at_once(void)
{
    return __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
#else
#define bits_reaching_at_once bits_reaching_in_loop
static int counts_at_once(void) { return 0; }
#endif

CLONES static void bits_reaching_in_loop(const uint64_t *planes, const BitRows *rows, size_t words, Scaling by, Scan *own)
{
    bits_reaching_over(planes, rows, words, 0, by, own);
}

/* ---- The second bit of a dimension: read of the rows that one bit leaves, a cache line or two each. ---- */

/* The most that the score of a row can be by both bits, of the levels summed up where second ones are set. */
INLINE float fine_bound(const BitRows *rows, size_t words, uint64_t row, float inner, int64_t sum, Scaling by)
{
    float numbers[4]; /* scale, length, spread, offset */
    memcpy(numbers, rows->fine + row * rows->stride + words, sizeof numbers);
    float second = by.gain * (float)sum - by.less;
    float score = numbers[3] + by.base + numbers[0] * (inner + 0.5f * second);
    return score + slack_of(numbers[2], numbers[1], by);
}

/* Some rows of a segment that can be among the nearest. */
typedef struct {
    uint32_t slots[CHOSEN];
    float bounds[CHOSEN], inners[CHOSEN];
    uint64_t count;
} Chosen;

/* Keep a row where it can reach the least by one more bound; of its bounds the lowest counts. */
INLINE uint64_t keep_chosen(Chosen *of, uint64_t i, uint64_t kept, float bound, float least)
{
    of->slots[kept] = of->slots[i];
    of->bounds[kept] = bound < of->bounds[i] ? bound : of->bounds[i];
    return kept + (bound >= least);
}

INLINE void fetch_fine_ahead(const BitRows *rows, size_t words, const uint32_t *slots, uint64_t at, uint64_t count)
{
#if defined(__GNUC__)
    if (at + FINE_AHEAD >= count) return;
    const uint64_t *next = rows->fine + (uint64_t)slots[at + FINE_AHEAD] * rows->stride;
    for (size_t i = 0; i < words + 2; i += 8) __builtin_prefetch(next + i);
#else
    (void)rows, (void)words, (void)slots, (void)at, (void)count;
#endif
}

/* Keep of some rows those that can reach a score by both bits. */
CLONES static void fine_in_loop(const uint64_t *planes, const BitRows *rows, size_t words, Scaling by, float least,
                                Chosen *of)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < of->count; i++) {
        uint64_t slot = of->slots[i], sums[PLANES] = {0};
        const uint64_t *row = rows->fine + slot * rows->stride;
        fetch_fine_ahead(rows, words, of->slots, i, of->count);
        for (size_t word = 0; word < words; word++) {
            for (size_t plane = 0; plane < PLANES; plane++)
                sums[plane] += (uint64_t)POPCOUNT(row[word] & planes[plane * words + word]);
        }
        int64_t sum = (int64_t)(sums[0] + 2 * sums[1] + 4 * sums[2]) - 8 * (int64_t)sums[3];
        kept = keep_chosen(of, i, kept, fine_bound(rows, words, slot, of->inners[i], sum, by), least);
    }
    of->count = kept;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
/* The same of rows of at most eight words, each of which is one vector. */
AT_ONCE static void fine_at_once(const uint64_t *planes, const BitRows *rows, size_t words, Scaling by, float least,
                                 Chosen *of)
{
    const __mmask8 there = (__mmask8)((1u << words) - 1);
    __m512i held[PLANES];
    for (size_t plane = 0; plane < PLANES; plane++) held[plane] = _mm512_maskz_loadu_epi64(there, planes + plane * words);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < of->count; i++) {
        uint64_t slot = of->slots[i];
        fetch_fine_ahead(rows, words, of->slots, i, of->count);
        __m512i row = _mm512_maskz_loadu_epi64(there, rows->fine + slot * rows->stride);
        __m512i sums = _mm512_sub_epi64(_mm512_setzero_si512(), _mm512_popcnt_epi64(_mm512_and_si512(row, held[PLANES - 1])));
        for (int plane = PLANES - 2; plane >= 0; plane--) /* doubled and added, from the highest, which is negative */
            sums = _mm512_add_epi64(_mm512_add_epi64(sums, sums), _mm512_popcnt_epi64(_mm512_and_si512(row, held[plane])));
        float bound = fine_bound(rows, words, slot, of->inners[i], _mm512_reduce_add_epi64(sums), by);
        kept = keep_chosen(of, i, kept, bound, least);
    }
    of->count = kept;
}
#else
#define fine_at_once fine_in_loop
#endif

/* Write down the places of values that reach `least`, from `first` to before `end`. */
CLONES static uint64_t places_in_loop(const float *restrict values, uint64_t first, uint64_t end, float least,
                                      uint32_t *restrict places)
{
    uint64_t found = 0;
    for (; first < end; first++) {
        places[found] = (uint32_t)first;
        found += values[first] >= least;
    }
    return found;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
/* The same, sixteen values at once; `places` has room for GROUP more. */
AT_ONCE static uint64_t places_at_once(const float *values, uint64_t first, uint64_t end, float least, uint32_t *places)
{
    const __m512 limit = _mm512_set1_ps(least);
    const __m512i step = _mm512_set1_epi32(GROUP);
    __m512i next = _mm512_add_epi32(_mm512_set1_epi32((int)first),
                                    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    uint64_t found = 0;
    for (; first + GROUP <= end; first += GROUP, next = _mm512_add_epi32(next, step)) {
        __mmask16 reach = _mm512_cmp_ps_mask(_mm512_loadu_ps(values + first), limit, _CMP_GE_OQ);
        _mm512_storeu_si512(places + found, _mm512_maskz_compress_epi32(reach, next));
        found += (uint64_t)__builtin_popcount(reach);
    }
    return found + places_in_loop(values, first, end, least, places + found);
}
#else
#define places_at_once places_in_loop
#endif

/* Exact, subnormals included; by integers, since some libraries make the processor drop subnormal floats. */
INLINE float widened(uint16_t half)
{
    uint32_t magnitude = half & 0x7fff, sign = (uint32_t)(half & 0x8000) << 16;
    float small = (float)(int32_t)magnitude * 0x1p-24f, value;
    uint32_t normal = (magnitude << 13) + (112u << 23), subnormal;
    memcpy(&subnormal, &small, sizeof subnormal);
    uint32_t is_small = 0u - (uint32_t)(magnitude < 0x400); /* a mask and no branch, so that loops run in vectors */
    uint32_t bits = (subnormal & is_small) | (normal & ~is_small) | sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* `sums` has room for `padded` numbers, the power of two that holds `width`. */
CLONES static void cosines_in_loop(const double *restrict query, const uint16_t *restrict rows, size_t width,
                                   const uint32_t *restrict slots, uint64_t count, double *restrict sums,
                                   size_t padded, double *restrict cosines)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint16_t *row = rows + (size_t)slots[i] * width;
        for (size_t j = 0; j < width; j++) sums[j] = query[j] * (double)widened(row[j]);
        for (size_t j = width; j < padded; j++) sums[j] = 0.0;
        for (size_t half = padded / 2; half; half /= 2) {
            INDEPENDENT
            for (size_t j = 0; j < half; j++) sums[j] += sums[j + half];
        }
        cosines[i] = sums[0];
    }
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#define WITH_HALVES __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,f16c")))

/* Eight products, from place 8 * at on; zeros beyond the width. */
WITH_HALVES INLINE __m512d products_at(const double *query, const uint16_t *row, size_t width, size_t at)
{
    size_t first = 8 * at;
    if (first >= width) return _mm512_setzero_pd();
    __mmask8 there = width - first >= 8 ? 0xff : (__mmask8)((1u << (width - first)) - 1);
    __m512d held = _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_maskz_loadu_epi16(there, row + first)));
    return _mm512_mul_pd(_mm512_maskz_loadu_pd(there, query + first), held);
}

/* The sum of every `stride`-th group of eight products from `at` on, halves added as `cosines_in_loop` adds them. */
WITH_HALVES INLINE __m512d folded(const double *query, const uint16_t *row, size_t width, size_t at)
{
    __m512d held[8];
    for (size_t i = 0; i < 8; i++) held[i] = products_at(query, row, width, at + 8 * i);
    for (size_t half = 4; half; half /= 2)
        for (size_t i = 0; i < half; i++) held[i] = _mm512_add_pd(held[i], held[i + half]);
    return held[0];
}

INLINE void fetch_row(const uint16_t *row, size_t width)
{
    for (size_t i = 0; i < width; i += 32) __builtin_prefetch(row + i);
}

/* The same sums in registers, for 257 to 512 dimensions: the same halves are added, eight places at a time. */
WITH_HALVES static void cosines_in_registers(const double *query, const uint16_t *rows, size_t width,
                                             const uint32_t *slots, uint64_t count, double *cosines)
{
    for (uint64_t i = 0; i < count && i < AHEAD; i++) fetch_row(rows + (size_t)slots[i] * width, width);
    for (uint64_t i = 0; i < count; i++) {
        const uint16_t *row = rows + (size_t)slots[i] * width;
        if (i + AHEAD < count) fetch_row(rows + (size_t)slots[i + AHEAD] * width, width);
        __m512d held[8];
        for (size_t j = 0; j < 8; j++) held[j] = folded(query, row, width, j);
        for (size_t half = 4; half; half /= 2)
            for (size_t j = 0; j < half; j++) held[j] = _mm512_add_pd(held[j], held[j + half]);
        __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(held[0]), _mm512_extractf64x4_pd(held[0], 1));
        __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
        cosines[i] = _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
}

static int adds_in_registers(size_t padded)
{
    return padded == 512 && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
#else
#define cosines_in_registers(query, rows, width, slots, count, cosines) ((void)0)
static int adds_in_registers(size_t padded) { return (void)padded, 0; }
#endif

static void cosines_of(const double *query, const uint16_t *rows, size_t width, const uint32_t *slots, uint64_t count,
                       double *sums, size_t padded, double *cosines)
{
    if (adds_in_registers(padded)) cosines_in_registers(query, rows, width, slots, count, cosines);
    else cosines_in_loop(query, rows, width, slots, count, sums, padded, cosines);
}

/* ---- The nearest rows of several segments: bounds and a floor that rises, and what can reach it scored ever more closely.
 *
 * What a row counts for is the least of its cosine and its bounds, each with the margin: its own and the query's alone. The k
 * best of that are found, whatever floor was known when a row was looked at; so rows may be looked at in any order. ---- */

enum {
    UNIT = 8192,    /* rows that a thread takes at a time; a multiple of STRETCH */
    STRETCH = 1024, /* rows that are scanned with one floor; a multiple of LANES */
    SPINS = 4096,   /* looks at what another thread does before the processor is offered to others */
};

/* A segment's rows as they are compared. `listed` are the rows that may be found where these are few, else NULL. */
typedef struct {
    const uint16_t *vectors;
    const int8_t *codes;
    const float *scales;
    const uint8_t *allowed;
    BitRows bits; /* without bits where `planes` is NULL */
    uint64_t *planes;
    Scaling by;
    uint32_t *listed;
    uint64_t rows, count; /* `count` of them are scanned */
    uint32_t first;       /* its first row among those of all segments */
} Searched;

typedef struct {
    const double *exact;
    const int8_t *code;
    size_t width, padded, k, looked;
    float step, rounding;
    double margin;
    int at_once;
} Near;

/* What one thread finds. */
typedef struct {
    const Near *near;
    const Searched *parts;
    Py_ssize_t count;
    Scan scan; /* what can reach the floor, or what is guessed of it */
    uint64_t scanned, rows;
    double floor; /* known from before */
    int guesses; /* whether rows are passed over whose bound is below what their estimates let guess of the floor */
    double *heap; /* the k best of what rows count for, the least first */
    size_t held, k;
    uint32_t *slots; /* what was scored and reached the floor, counted over all segments */
    double *scores, *worths, *sums;
    size_t found, capacity;
    enum failure failure;
} Found;

/* Some rows of one segment. */
typedef struct {
    const Searched *part;
    uint64_t start, end;
} Unit;

static double floor_of(const Found *own) { return own->held == own->k ? own->heap[0] : own->floor; }

/* What a bound must reach so that a row's worth can reach the floor; never too high, however it rounds. */
static float least_of(const Near *near, double floor) { return nextafterf((float)(floor - near->margin), -INFINITY); }

/* Take a row's worth among the k best. */
static void heap_add(Found *own, double worth)
{
    double *heap = own->heap;
    size_t at = 0;
    if (own->held < own->k) {
        for (at = own->held++; at && heap[(at - 1) / 2] > worth; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    } else {
        for (size_t next = 1; next < own->held; next = 2 * at + 1) {
            if (next + 1 < own->held && heap[next + 1] < heap[next]) next++;
            if (heap[next] >= worth) break;
            heap[at] = heap[next];
            at = next;
        }
    }
    heap[at] = worth;
}

static enum failure make_room(Found *own, size_t more)
{
    if (own->found + more <= own->capacity) return FINE;
    size_t capacity = own->found + more + own->capacity;
    uint32_t *slots = realloc(own->slots, capacity * sizeof *slots);
    if (slots == NULL) return NO_MEMORY;
    own->slots = slots;
    double *scores = realloc(own->scores, capacity * sizeof *scores);
    if (scores == NULL) return NO_MEMORY;
    own->scores = scores;
    double *worths = realloc(own->worths, capacity * sizeof *worths);
    if (worths == NULL) return NO_MEMORY;
    own->worths = worths;
    own->capacity = capacity;
    return FINE;
}

/* Score some rows of a segment truly and note those that reach the floor, which rises with them. */
static enum failure note_exact(Found *own, const Searched *part, const Chosen *of)
{
    enum failure failure = make_room(own, of->count);
    if (failure) return failure;
    const Near *near = own->near;
    size_t found = own->found;
    double *scores = own->scores + found;
    cosines_of(near->exact, part->vectors, near->width, of->slots, of->count, own->sums, near->padded, scores);
    for (uint64_t i = 0; i < of->count; i++) {
        double most = (double)of->bounds[i] + near->margin, worth = scores[i] < most ? scores[i] : most;
        if (!(worth >= floor_of(own))) continue;
        own->slots[found] = part->first + of->slots[i];
        own->scores[found] = scores[i];
        own->worths[found++] = worth;
        heap_add(own, worth);
    }
    own->found = found;
    own->scan.least = least_of(near, floor_of(own));
    return FINE;
}

/* Scores of some rows by eight bits, and what they can be at most. */
static void bounds_by_codes(const Near *near, const Searched *part, const uint32_t *slots, uint64_t first, uint64_t count,
                            float *scores, float *bounds)
{
    int32_t products[STRETCH];
    const int8_t *rows = part->codes + (slots == NULL ? (size_t)first * near->width : 0);
    Products of = {near->code, rows, near->width, slots, count, 0};
    dots_of(&of, products);
    for (uint64_t i = 0; i < count; i++) {
        float scale = part->scales[slots == NULL ? first + i : slots[i]];
        scores[i] = (float)products[i] * (scale * near->step);
        bounds[i] = scores[i] + near->rounding * sqrtf(scale * scale + near->step * near->step);
    }
}

/* The k-th best score; below all where there are fewer. */
static enum failure kth_best(const double *scores, size_t count, size_t k, double *found)
{
    *found = -INFINITY;
    if (count < k) return FINE;
    uint64_t *keys = malloc(count * sizeof *keys);
    if (keys == NULL) return NO_MEMORY;
    for (size_t i = 0; i < count; i++) keys[i] = key_of(scores[i]);
    *found = score_of(kth_largest(keys, count, k));
    free(keys);
    return FINE;
}

/* Before there is a floor: score those truly that seem best, so that the others must reach what these set. */
static enum failure note_best(Found *own, const Searched *part, Chosen *of)
{
    uint64_t keys[CHOSEN], some = own->k + own->k / 8, left = 0;
    Chosen best;
    if (some >= of->count) return FINE;
    for (uint64_t i = 0; i < of->count; i++) keys[i] = key_of(of->bounds[i]);
    float cut = (float)score_of(kth_largest(keys, of->count, some));
    best.count = 0;
    for (uint64_t i = 0; i < of->count; i++) {
        Chosen *to = of->bounds[i] >= cut ? &best : of;
        uint64_t at = to == of ? left++ : best.count++;
        to->slots[at] = of->slots[i];
        to->bounds[at] = of->bounds[i];
    }
    enum failure failure = note_exact(own, part, &best);
    of->count = 0;
    for (uint64_t i = 0; i < left; i++) of->count = keep_chosen(of, i, of->count, of->bounds[i], own->scan.least);
    return failure;
}

/* Score ever more closely, by two bits and by eight where one was first, then truly, what can reach the floor. */
static enum failure refine(Found *own, const Searched *part, Chosen *of)
{
    enum failure failure = FINE;
    if (part->planes != NULL) {
        const Near *near = own->near;
        size_t words = (near->width + 63) / 64;
        (near->at_once && words <= 8 ? fine_at_once : fine_in_loop)(part->planes, &part->bits, words, part->by,
                                                                     own->scan.least, of);
        float scores[CHOSEN], bounds[CHOSEN];
        uint64_t kept = 0;
        bounds_by_codes(near, part, of->slots, 0, of->count, scores, bounds);
        for (uint64_t i = 0; i < of->count; i++) kept = keep_chosen(of, i, kept, bounds[i], own->scan.least);
        of->count = kept;
    }
    if (own->held < own->k) failure = note_best(own, part, of);
    if (!failure && of->count) failure = note_exact(own, part, of);
    of->count = 0;
    return failure;
}

/* Refine some rows written down, by their places, where these are not all; they are not refined again. */
static enum failure refine_those(Found *own, const uint32_t *places, size_t count)
{
    Chosen of;
    Reaching *held = &own->scan.reaching;
    const Searched *part = own->parts;
    enum failure failure = FINE;
    of.count = 0;
    for (size_t i = 0; i < count && !failure; i++) {
        uint32_t place = places[i], row = held->rows[place];
        const Searched *its = part;
        while (row - its->first >= its->rows) its++;
        if (of.count == CHOSEN || its != part) failure = refine(own, part, &of);
        part = its;
        of.slots[of.count] = row - part->first;
        of.bounds[of.count] = held->bounds[place];
        of.inners[of.count++] = held->inners[place];
        held->bounds[place] = NAN;
    }
    return failure ? failure : refine(own, part, &of);
}

/* Write down which rows of a stretch can reach the floor. */
static void scan_stretch(Found *own, const Searched *part, uint64_t start, uint64_t end)
{
    const Near *near = own->near;
    const BitRows *all = &part->bits;
    size_t words = (near->width + 63) / 64;
    if (part->planes != NULL) {
        BitRows rows = {all->bits + start * words, all->scales + start, all->offsets + start, all->spreads + start,
                        all->fine, all->stride, all->allowed == NULL ? NULL : all->allowed + start, end - start,
                        part->first + (uint32_t)start};
        (near->at_once ? bits_reaching_at_once : bits_reaching_in_loop)(part->planes, &rows, words, part->by, &own->scan);
        return;
    }
    Reaching *held = &own->scan.reaching;
    float scores[STRETCH], bounds[STRETCH];
    bounds_by_codes(near, part, part->listed == NULL ? NULL : part->listed + start, start, end - start, scores, bounds);
    for (uint64_t i = 0; i < end - start; i++) {
        uint32_t slot = part->listed == NULL ? (uint32_t)(start + i) : part->listed[start + i];
        if (!(bounds[i] >= own->scan.least) || (part->listed == NULL && part->allowed != NULL && !part->allowed[slot])) continue;
        if (scores[i] >= own->scan.guess) note_estimate(&own->scan, held->size, scores[i]);
        held->rows[held->size] = part->first + slot;
        held->inners[held->size] = 0.0f;
        held->bounds[held->size++] = bounds[i];
    }
}

/* Make an array of numbers of four bytes larger; give whether it went. */
static int enlarge(void *array, size_t count)
{
    void *held, *made;
    memcpy(&held, array, sizeof held);
    made = realloc(held, count * sizeof(float));
    if (made != NULL) memcpy(array, &made, sizeof made);
    return made != NULL;
}

/* Make room for what a stretch can add. */
static enum failure room_to_scan(Scan *own)
{
    Reaching *held = &own->reaching;
    if (held->size + STRETCH + GROUP > held->room) {
        size_t room = 2 * held->room + 8 * STRETCH;
        if (!enlarge(&held->rows, room) || !enlarge(&held->bounds, room) || !enlarge(&held->inners, room)) return NO_MEMORY;
        held->room = room;
    }
    if (own->noted + STRETCH > own->room) {
        size_t room = 2 * own->room + 2 * STRETCH;
        if (!enlarge(&own->places, room) || !enlarge(&own->estimates, room)) return NO_MEMORY;
        own->room = room;
    }
    return FINE;
}

/* Half a deviation of the estimate noted last. The best estimates are the best partly by their errors, so that a guess by
 * estimates alone is too high for 7 in 100 questions over a million rows; with half a deviation less, for 1 in 400. */
static float deviation_of(const Scan *own)
{
    if (own->noted == 0) return 0.0f;
    float slack = own->reaching.bounds[own->places[own->noted - 1]] - own->estimates[own->noted - 1];
    return slack > 0.0f ? slack / 8.0f : 0.0f;
}

static enum failure scan_unit(Found *own, Unit unit)
{
    Scan *scan = &own->scan;
    for (uint64_t start = unit.start; start < unit.end; start += STRETCH) {
        enum failure failure = room_to_scan(scan);
        if (failure) return failure;
        scan_stretch(own, unit.part, start, unit.end - start < STRETCH ? unit.end : start + STRETCH);
        own->scanned += STRETCH;
        double share = (double)own->scanned / (double)own->rows, most = (double)own->near->looked * (1.0 + share);
        scan->guess = best_of(&scan->histogram, (uint64_t)most) - deviation_of(scan);
        if (own->guesses && scan->guess > scan->least) scan->least = scan->guess;
    }
    return FINE;
}

/* Refine the rows with the best estimates, which set a floor, and then what can reach that. */
static enum failure refine_all(Found *own)
{
    Scan *scan = &own->scan;
    size_t best = 0;
    uint32_t places[CHOSEN + GROUP];
    for (size_t i = 0; i < scan->noted; i++) {
        scan->places[best] = scan->places[i];
        best += scan->estimates[i] >= scan->guess;
    }
    scan->least = least_of(own->near, own->floor); /* no longer what was guessed */
    enum failure failure = refine_those(own, scan->places, best);
    for (size_t at = 0; at < scan->reaching.size && !failure; at += CHOSEN) {
        size_t end = scan->reaching.size - at < CHOSEN ? scan->reaching.size : at + CHOSEN;
        uint64_t count = (own->near->at_once ? places_at_once : places_in_loop)(scan->reaching.bounds, at, end, scan->least, places);
        failure = refine_those(own, places, count);
    }
    return failure;
}

/* What two threads share: the units, of which each takes the next one. The other thread may begin late or never, so nothing
 * waits for it but what it has taken; whichever of the two goes last frees this. */
typedef struct {
    Unit *units;
    Found *other;
    size_t count, next;
    int over, busy, holders;
} Team;

#if defined(__unix__) || defined(__APPLE__)
#define LOAD(from) __atomic_load_n(from, __ATOMIC_SEQ_CST)
#define STORE(to, value) __atomic_store_n(to, value, __ATOMIC_SEQ_CST)
#define TAKE(from) __atomic_fetch_add(from, 1, __ATOMIC_SEQ_CST)
#define DROP(from) __atomic_sub_fetch(from, 1, __ATOMIC_SEQ_CST)

static void wait_while(const int *value, int is)
{
    for (int spins = 0; LOAD(value) == is; spins++)
        if (spins > SPINS) sched_yield();
}
#else
#define LOAD(from) (*(from))
#define STORE(to, value) (*(to) = (value))
#define TAKE(from) ((*(from))++)
#define DROP(from) (--*(from))
#define wait_while(value, is) ((void)0)
#endif

/* Scan units while there are some, then refine what can reach the floor. */
static void work_on(Team *team, Found *own)
{
    size_t at;
    while (!own->failure && (at = TAKE(&team->next)) < team->count) own->failure = scan_unit(own, team->units[at]);
    if (!own->failure) own->failure = refine_all(own);
}

static void leave(Team *team)
{
    if (DROP(&team->holders)) return;
    free(team->units);
    free(team);
}

#if defined(__unix__) || defined(__APPLE__)
static void *help(void *argument)
{
    Team *team = argument;
    STORE(&team->busy, 1);
    if (!LOAD(&team->over)) work_on(team, team->other); /* else what it works on may be gone */
    STORE(&team->busy, 0);
    leave(team);
    return NULL;
}

static void call_help(Team *team)
{
    pthread_t other;
    team->holders++;
    if (pthread_create(&other, NULL, help, team)) team->holders--;
    else pthread_detach(other);
}
#else
#define call_help(team) ((void)0)
#endif

static Team *team_of(const Searched *parts, Py_ssize_t count, Found *other)
{
    Team *team = calloc(1, sizeof *team);
    size_t units = 0;
    for (Py_ssize_t i = 0; i < count; i++) units += (size_t)(parts[i].count + UNIT - 1) / UNIT;
    if (team == NULL || (team->units = malloc((units ? units : 1) * sizeof *team->units)) == NULL) {
        free(team);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        for (uint64_t at = 0; at < parts[i].count; at += UNIT)
            team->units[team->count++] = (Unit){parts + i, at, parts[i].count - at < UNIT ? parts[i].count : at + UNIT};
    team->other = other;
    team->holders = 1;
    return team;
}

/* Put what the other thread found behind what this one has. */
static enum failure join_found(Found *own, const Found *other)
{
    enum failure failure = make_room(own, other->found);
    if (failure || other->found == 0) return failure;
    memcpy(own->slots + own->found, other->slots, other->found * sizeof *own->slots);
    memcpy(own->scores + own->found, other->scores, other->found * sizeof *own->scores);
    memcpy(own->worths + own->found, other->worths, other->found * sizeof *own->worths);
    own->found += other->found;
    return FINE;
}

/* Look at all rows, and give the k-th best of what they count for, as far as rows were looked at. */
static enum failure search_once(Found *own, Py_ssize_t threads, double *kth)
{
    Team *team = team_of(own->parts, own->count, own + 1);
    if (team == NULL) return NO_MEMORY;
    if (threads > 1) call_help(team);
    work_on(team, own);
    STORE(&team->over, 1);
    wait_while(&team->busy, 1);
    leave(team);
    enum failure failure = own->failure ? own->failure : own[1].failure ? own[1].failure : join_found(own, own + 1);
    return failure ? failure : kth_best(own->worths, own->found, own->near->k, kth);
}

/* Find the rows of all segments that are among the k nearest: in `own[0]`, with every tie at the k-th. Where a guess was too
 * high, all rows are looked at again by what is known by now. */
static enum failure search_all(Found *own, Py_ssize_t threads)
{
    double kth;
    enum failure failure = search_once(own, threads, &kth);
    float least = failure ? 0.0f : least_of(own->near, kth);
    if (!failure && !(least >= own->scan.guess && least >= own[1].scan.guess)) {
        own->scan.reaching.size = own->scan.noted = own->held = own->found = own[1].found = 0;
        own->floor = kth;
        own->scan.least = least;
        own->guesses = 0;
        failure = search_once(own, 1, &kth);
    }
    size_t kept = 0;
    for (size_t i = 0; i < own->found && !failure; i++) {
        own->slots[kept] = own->slots[i];
        own->scores[kept] = own->scores[i];
        kept += own->worths[i] >= kth;
    }
    own->found = kept;
    return failure;
}

/* ---- Python's side: checked views of arrays, and the arrays that go back. ---- */

/* Letting go of the GIL wakes a thread that waits for it, which takes 50 to 100 µs on a virtual machine; after a short
 * loop the lock is taken back before that, and the other has been woken for nothing. So it is let go for work of some
 * 100 µs alone; a step is a few nanoseconds. */
#define LONG_WORK 15000
#define BEGIN_WORK(steps) \
    { \
        PyThreadState *left = (uint64_t)(steps) > LONG_WORK ? PyEval_SaveThread() : NULL;
#define END_WORK \
        if (left != NULL) PyEval_RestoreThread(left); \
    }

typedef struct {
    PyObject *empty, *uint8, *uint16, *uint32, *uint64, *int8, *int32, *int64, *float32, *float64;
} State;

/* The buffer protocol's letters for each kind; sizes tell apart those that differ by platform. */
static const char UNSIGNED_LETTERS[] = "BHILQ", SIGNED_LETTERS[] = "bhilq", FLOAT_LETTERS[] = "efd";

typedef struct {
    const char *name, *letters;
    int size, dimensions, writable;
} Shape;

static const Shape SLOTS = {"slots must be a contiguous vector of uint32", UNSIGNED_LETTERS, 4, 1, 0};
static const Shape FREQUENCIES = {"frequencies must be a contiguous vector of uint16", UNSIGNED_LETTERS, 2, 1, 0};
static const Shape STARTS = {"starts must be a contiguous vector of int64", SIGNED_LETTERS, 8, 1, 0};
static const Shape ENDS = {"ends must be a contiguous vector of int64", SIGNED_LETTERS, 8, 1, 0};
static const Shape WEIGHTS = {"weights must be a contiguous vector of float64", FLOAT_LETTERS, 8, 1, 0};
static const Shape NORMS = {"norms must be a contiguous vector of float64", FLOAT_LETTERS, 8, 1, 0};
static const Shape ALLOWED = {"allowed must be a contiguous vector of uint8", UNSIGNED_LETTERS, 1, 1, 0};
static const Shape WANTED = {"wanted must be a contiguous vector of uint32", UNSIGNED_LETTERS, 4, 1, 0};
static const Shape OFFSETS = {"offsets must be a contiguous vector of int64", SIGNED_LETTERS, 8, 1, 0};
static const Shape PLACES = {"places must be a contiguous vector of uint32", UNSIGNED_LETTERS, 4, 1, 0};
static const Shape HOLDING = {"holding must be a contiguous vector of int64", SIGNED_LETTERS, 8, 1, 0};
static const Shape TEXTS = {"texts must be a contiguous vector of uint8", UNSIGNED_LETTERS, 1, 1, 0};
static const Shape HASHES = {"hashes must be a contiguous vector of uint64", UNSIGNED_LETTERS, 8, 1, 0};
static const Shape MARKS = {"marks must be a contiguous vector of uint8", UNSIGNED_LETTERS, 1, 1, 0};
static const Shape MARKS_TO_SET = {"marks must be a contiguous, writable vector of uint8", UNSIGNED_LETTERS, 1, 1, 1};
static const Shape SCORES = {"scores must be a contiguous vector of float32", FLOAT_LETTERS, 4, 1, 0};
static const Shape QUERY_CODE = {"query must be a contiguous vector of int8", SIGNED_LETTERS, 1, 1, 0};
static const Shape ROW_CODES = {"rows must be a contiguous matrix of int8", SIGNED_LETTERS, 1, 2, 0};
static const Shape QUERY_VECTOR = {"query must be a contiguous vector of float64", FLOAT_LETTERS, 8, 1, 0};
static const Shape TURNED = {"the turned query must be a contiguous vector of float32", FLOAT_LETTERS, 4, 1, 0};
static const Shape ROTATION = {"the rotation must be a contiguous matrix of float32", FLOAT_LETTERS, 4, 2, 0};
static const Shape ROW_BITS = {"bits must be a contiguous matrix of uint64", UNSIGNED_LETTERS, 8, 2, 0};
static const Shape ROW_NUMBERS = {"scales and offsets must be contiguous vectors of float32", FLOAT_LETTERS, 4, 1, 0};
static const Shape ROW_VECTORS = {"rows must be a contiguous matrix of float16", FLOAT_LETTERS, 2, 2, 0};
static const Shape RESULT = {"the result could not be made", "BHILQbhilqfd", 0, 0, 1};

/* Open an array; on failure the view is left so that PyBuffer_Release does nothing. */
static int open_view(PyObject *array, const Shape *shape, Py_buffer *view)
{
    memset(view, 0, sizeof *view);
    if (PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (shape->writable ? PyBUF_WRITABLE : 0))) {
        memset(view, 0, sizeof *view);
        PyErr_SetString(PyExc_ValueError, shape->name);
        return -1;
    }
    const char *letter = view->format == NULL ? "B" : view->format;
    if (*letter == '@' || *letter == '=') letter++;
    if (letter[0] == '\0' || letter[1] != '\0' || strchr(shape->letters, letter[0]) == NULL ||
        (shape->size && view->itemsize != shape->size) || (shape->dimensions && view->ndim != shape->dimensions)) {
        PyBuffer_Release(view);
        memset(view, 0, sizeof *view);
        PyErr_SetString(PyExc_ValueError, shape->name);
        return -1;
    }
    return 0;
}

static int same_length(const Py_buffer *view, Py_ssize_t length, const char *message)
{
    if (view->shape[0] == length) return 0;
    PyErr_SetString(PyExc_ValueError, message);
    return -1;
}

static int expect(Py_ssize_t given, Py_ssize_t expected)
{
    if (given == expected) return 0;
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", expected, given);
    return -1;
}

static int read_k(PyObject *value, size_t *k)
{
    Py_ssize_t read = PyNumber_AsSsize_t(value, NULL); /* too large a number becomes the largest */
    if (read == -1 && PyErr_Occurred()) return -1;
    if (read < 1) {
        PyErr_SetString(PyExc_ValueError, "k must be at least 1");
        return -1;
    }
    *k = (size_t)read;
    return 0;
}

/* Read k1 and give k1 + 1, what a contribution tends to per unit of weight. */
static int read_k1(PyObject *value, double *most)
{
    double k1 = PyFloat_AsDouble(value);
    if (k1 == -1.0 && PyErr_Occurred()) return -1;
    if (!(isfinite(k1) && k1 >= 0.0)) {
        PyErr_SetString(PyExc_ValueError, "k1 must be a finite number of at least 0");
        return -1;
    }
    *most = k1 + 1.0;
    return 0;
}

static int fits_slots(Py_ssize_t count)
{
    if ((uint64_t)count <= UINT32_MAX) return 0;
    PyErr_SetString(PyExc_ValueError, "more slots than 32 bits can number");
    return -1;
}

/* Slots come from a caller that owns them, so that they are the same when they are used. */
static int slots_within(const Py_buffer *slots, Py_ssize_t rows)
{
    const uint32_t *wanted = slots->buf;
    for (Py_ssize_t i = 0; i < slots->shape[0]; i++) {
        if (wanted[i] < (uint64_t)rows) continue;
        fail(OUT_OF_RANGE);
        return -1;
    }
    return 0;
}

/* An array (count,) of numpy holding a copy of `count` numbers of `size` bytes. */
static PyObject *new_array(PyObject *module, PyObject *kind, const void *values, size_t count, size_t size)
{
    State *state = PyModule_GetState(module);
    PyObject *array = PyObject_CallFunction(state->empty, "nO", (Py_ssize_t)count, kind);
    if (array == NULL) return NULL;
    Py_buffer view;
    if (open_view(array, &RESULT, &view)) {
        Py_DECREF(array);
        return NULL;
    }
    if ((size_t)view.len == count * size && count) memcpy(view.buf, values, count * size);
    PyBuffer_Release(&view);
    return array;
}

static PyObject *slots_of(PyObject *module, const Best *best)
{
    State *state = PyModule_GetState(module);
    return new_array(module, state->uint32, best->slots, best->size, sizeof *best->slots);
}

/* Give (first, second), taking both over; NULL if either is. */
static PyObject *pair(PyObject *first, PyObject *second)
{
    PyObject *both = first != NULL && second != NULL ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return both;
}

/* A segment's postings and the stretches of terms in them; of a BM25 question, weights and norms as well. */
typedef struct {
    Py_buffer slots, frequencies, starts, ends, weights, norms;
    Term *terms;
    Py_ssize_t count;
    double most; /* k1 + 1, what a contribution tends to per unit of weight */
} Question;

static void question_close(Question *question)
{
    PyBuffer_Release(&question->slots);
    PyBuffer_Release(&question->frequencies);
    PyBuffer_Release(&question->starts);
    PyBuffer_Release(&question->ends);
    PyBuffer_Release(&question->weights);
    PyBuffer_Release(&question->norms);
    PyMem_Free(question->terms);
}

static int question_terms(Question *question)
{
    Py_ssize_t postings = question->slots.shape[0], count = question->starts.shape[0];
    question->count = count;
    question->terms = PyMem_Calloc(count ? (size_t)count : 1, sizeof *question->terms);
    if (question->terms == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    const int64_t *starts = question->starts.buf, *ends = question->ends.buf;
    const double *weights = question->weights.buf;
    for (Py_ssize_t t = 0; t < count; t++) {
        int64_t start = starts[t], end = ends[t];
        if (start < 0 || end < start || end > postings) {
            PyErr_SetString(PyExc_ValueError, "a term lies outside the postings");
            return -1;
        }
        question->terms[t] =
            (Term){question->slots.buf, question->frequencies.buf, start, start, end, weights ? weights[t] : 0.0};
    }
    return 0;
}

/* Open and check the first seven arguments; whatever happens, `question_close` must follow. */
static int question_open(Question *question, PyObject *const *arguments)
{
    memset(question, 0, sizeof *question);
    if (open_view(arguments[0], &SLOTS, &question->slots) ||
        open_view(arguments[1], &FREQUENCIES, &question->frequencies) ||
        open_view(arguments[2], &STARTS, &question->starts) || open_view(arguments[3], &ENDS, &question->ends) ||
        open_view(arguments[4], &WEIGHTS, &question->weights) || open_view(arguments[5], &NORMS, &question->norms))
        return -1;
    Py_ssize_t count = question->starts.shape[0];
    if (same_length(&question->frequencies, question->slots.shape[0], "frequencies has the wrong length") ||
        same_length(&question->ends, count, "ends has the wrong length") ||
        same_length(&question->weights, count, "weights has the wrong length") ||
        fits_slots(question->norms.shape[0]))
        return -1;
    if (read_k1(arguments[6], &question->most)) return -1;
    return question_terms(question);
}

/* Open `allowed`, which may be None: then the view stays empty and its `buf` NULL. */
static int open_allowed(PyObject *array, Py_ssize_t count, Py_buffer *view)
{
    memset(view, 0, sizeof *view);
    if (array == Py_None) return 0;
    if (open_view(array, &ALLOWED, view)) return -1;
    return same_length(view, count, "allowed has the wrong length");
}

static uint64_t postings_of(const Question *question)
{
    uint64_t postings = 0;
    for (Py_ssize_t t = 0; t < question->count; t++)
        postings += (uint64_t)(question->terms[t].end - question->terms[t].at);
    return postings;
}

/* An array of numpy to be filled, and its view; -1 on failure. Whatever happens, both must be released. */
static int open_result(PyObject *module, PyObject *kind, Py_ssize_t count, PyObject **array, Py_buffer *view)
{
    State *state = PyModule_GetState(module);
    *array = PyObject_CallFunction(state->empty, "nO", count, kind);
    return *array == NULL ? -1 : open_view(*array, &RESULT, view);
}

/* The forward index of a segment, and what is looked up in it: the first four arguments, and the last. */
typedef struct {
    Py_buffer offsets, terms, frequencies, places, wanted;
    Forward forward;
} Looking;

static void looking_close(Looking *looking)
{
    PyBuffer_Release(&looking->offsets);
    PyBuffer_Release(&looking->terms);
    PyBuffer_Release(&looking->frequencies);
    PyBuffer_Release(&looking->places);
    PyBuffer_Release(&looking->wanted);
}

static int looking_open(Looking *looking, PyObject *const *arguments, Py_ssize_t last)
{
    memset(looking, 0, sizeof *looking);
    if (open_view(arguments[0], &OFFSETS, &looking->offsets) || open_view(arguments[1], &PLACES, &looking->terms) ||
        open_view(arguments[2], &FREQUENCIES, &looking->frequencies) ||
        open_view(arguments[3], &PLACES, &looking->places) || open_view(arguments[last], &WANTED, &looking->wanted) ||
        same_length(&looking->frequencies, looking->terms.shape[0], "frequencies has the wrong length"))
        return -1;
    if (looking->offsets.shape[0] < 1) {
        PyErr_SetString(PyExc_ValueError, "offsets has the wrong length");
        return -1;
    }
    looking->forward =
        (Forward){looking->offsets.buf, looking->terms.buf, looking->frequencies.buf,
                  (uint64_t)looking->offsets.shape[0] - 1, looking->terms.shape[0]};
    return 0;
}

static PyObject *occurrences(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Looking looking;
    Py_buffer view = {0};
    PyObject *result = NULL;
    enum failure failure = FINE;
    if (expect(given, 5)) return NULL;
    if (looking_open(&looking, arguments, 4)) goto done;
    Py_ssize_t count = looking.wanted.shape[0], terms = looking.places.shape[0];
    State *state = PyModule_GetState(module);
    result = PyObject_CallFunction(state->empty, "(nn)O", count, terms, state->uint16);
    if (result == NULL || open_view(result, &RESULT, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    BEGIN_WORK(64 * count)
    failure = occurrences_in(&looking.forward, looking.places.buf, terms, looking.wanted.buf, count, view.buf);
    END_WORK
    if (failure) {
        Py_CLEAR(result);
        fail(failure);
    }
done:
    PyBuffer_Release(&view);
    looking_close(&looking);
    return result;
}

static PyObject *bm25_at(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Looking looking;
    Py_buffer weights = {0}, norms = {0}, view = {0};
    PyObject *result = NULL;
    enum failure failure = FINE;
    if (expect(given, 8)) return NULL;
    if (looking_open(&looking, arguments, 7) || open_view(arguments[4], &WEIGHTS, &weights) ||
        open_view(arguments[5], &NORMS, &norms) ||
        same_length(&weights, looking.places.shape[0], "weights has the wrong length") ||
        same_length(&norms, (Py_ssize_t)looking.forward.passages, "norms has the wrong length"))
        goto done;
    double most;
    if (read_k1(arguments[6], &most)) goto done;
    State *state = PyModule_GetState(module);
    Py_ssize_t count = looking.wanted.shape[0], terms = looking.places.shape[0];
    if (open_result(module, state->float64, count, &result, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    BEGIN_WORK(128 * count)
    failure = scores_in(&looking.forward, looking.places.buf, weights.buf, terms, norms.buf, most, looking.wanted.buf,
                        count, view.buf);
    END_WORK
    if (failure) {
        Py_CLEAR(result);
        fail(failure);
    }
done:
    PyBuffer_Release(&view);
    PyBuffer_Release(&norms);
    PyBuffer_Release(&weights);
    looking_close(&looking);
    return result;
}

/* Where the postings of each place begin and end; nowhere for NOWHERE. */
static PyObject *stretches(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer offsets, places = {0}, views[2] = {{0}, {0}};
    PyObject *made[2] = {NULL, NULL}, *result = NULL;
    if (expect(given, 2)) return NULL;
    if (open_view(arguments[0], &OFFSETS, &offsets) || open_view(arguments[1], &PLACES, &places)) goto done;
    Py_ssize_t count = places.shape[0];
    State *state = PyModule_GetState(module);
    if (open_result(module, state->int64, count, &made[0], &views[0]) ||
        open_result(module, state->int64, count, &made[1], &views[1]))
        goto done;
    const int64_t *bounds = offsets.buf;
    const uint32_t *wanted = places.buf;
    int64_t *starts = views[0].buf, *ends = views[1].buf;
    enum failure failure = FINE;
    BEGIN_WORK(count)
    for (Py_ssize_t i = 0; i < count; i++) {
        starts[i] = ends[i] = 0;
        if (wanted[i] == NOWHERE) continue;
        if ((int64_t)wanted[i] + 1 >= offsets.shape[0]) failure = OUTSIDE;
        else {
            starts[i] = bounds[wanted[i]];
            ends[i] = bounds[(int64_t)wanted[i] + 1];
        }
    }
    END_WORK
    result = failure ? fail(failure) : PyTuple_Pack(2, made[0], made[1]);
done:
    for (int i = 0; i < 2; i++) {
        PyBuffer_Release(&views[i]);
        Py_XDECREF(made[i]);
    }
    PyBuffer_Release(&places);
    PyBuffer_Release(&offsets);
    return result;
}

/* ---- A question's terms in several segments, by their numbers. ---- */

enum { TERM_ARRAYS = 5 };

/* A segment's terms: their numbers, where each stands (or NULL), where its postings begin, these, and who lives. */
typedef struct {
    Py_buffer views[TERM_ARRAYS];
} TermViews;

static const Shape *const TERM_SHAPES[TERM_ARRAYS] = {&PLACES, &PLACES, &OFFSETS, &SLOTS, &MARKS};

static int open_arrays(PyObject *part, const Shape *const *shapes, int count, unsigned optional, Py_buffer *views)
{
    if (!PyTuple_Check(part) || PyTuple_Size(part) != count) {
        PyErr_SetString(PyExc_TypeError, "a part is a tuple of its arrays");
        return -1;
    }
    for (int i = 0; i < count; i++) {
        PyObject *array = PyTuple_GetItem(part, i);
        if ((optional >> i & 1) && array == Py_None) continue;
        if (open_view(array, shapes[i], &views[i])) return -1;
    }
    return 0;
}

static uint32_t place_of(const TermViews *held, uint32_t id)
{
    const uint32_t *table = held->views[1].buf, *terms = held->views[0].buf;
    Py_ssize_t count = held->views[0].shape[0];
    if (table != NULL) return (Py_ssize_t)id < held->views[1].shape[0] ? table[id] : NOWHERE;
    Py_ssize_t low = 0, high = count;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (terms[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low < count && terms[low] == id ? (uint32_t)low : NOWHERE;
}

/* Where each term's postings stand in one segment; the living ones are added to `holding`. */
static enum failure count_in(const TermViews *held, const uint32_t *ids, Py_ssize_t count, uint32_t *places,
                             int64_t *starts, int64_t *ends, int64_t *holding)
{
    const int64_t *offsets = held->views[2].buf;
    const uint32_t *slots = held->views[3].buf;
    const uint8_t *live = held->views[4].obj == NULL ? NULL : held->views[4].buf;
    Py_ssize_t terms = held->views[2].shape[0] - 1, size = held->views[3].shape[0];
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t place = places[i] = place_of(held, ids[i]);
        starts[i] = ends[i] = 0;
        if (place == NOWHERE) continue;
        if ((Py_ssize_t)place >= terms) return OUTSIDE;
        int64_t start = offsets[place], end = offsets[place + 1];
        if (start < 0 || end < start || end > size) return OUTSIDE;
        starts[i] = start;
        ends[i] = end;
        holding[i] += end - start;
        if (live == NULL) continue;
        for (int64_t at = start; at < end; at++) {
            if (slots[at] >= (uint64_t)held->views[4].shape[0]) return OUT_OF_RANGE;
            holding[i] -= !live[slots[at]];
        }
    }
    return FINE;
}

/* Count one segment's terms into `holding`, and give (places, starts, ends). */
static PyObject *counted_part(PyObject *module, PyObject *part, const Py_buffer *ids, int64_t *holding)
{
    State *state = PyModule_GetState(module);
    PyObject *kinds[3] = {state->uint32, state->int64, state->int64}, *made[3] = {NULL, NULL, NULL}, *result = NULL;
    Py_buffer views[3] = {{0}, {0}, {0}};
    TermViews held;
    memset(&held, 0, sizeof held);
    int failed = open_arrays(part, TERM_SHAPES, TERM_ARRAYS, 1 << 1 | 1 << 4, held.views);
    if (!failed && held.views[2].shape[0] < 1) {
        PyErr_SetString(PyExc_ValueError, "offsets has the wrong length");
        failed = 1;
    }
    for (int i = 0; i < 3 && !failed; i++) failed = open_result(module, kinds[i], ids->shape[0], &made[i], &views[i]);
    if (!failed) {
        enum failure failure;
        BEGIN_WORK(held.views[4].obj == NULL ? 4 * ids->shape[0] : held.views[3].shape[0])
        failure = count_in(&held, ids->buf, ids->shape[0], views[0].buf, views[1].buf, views[2].buf, holding);
        END_WORK
        result = failure ? fail(failure) : PyTuple_Pack(3, made[0], made[1], made[2]);
    }
    for (int i = 0; i < 3; i++) {
        PyBuffer_Release(&views[i]);
        Py_XDECREF(made[i]);
    }
    for (int i = 0; i < TERM_ARRAYS; i++) PyBuffer_Release(&held.views[i]);
    return result;
}

static PyObject *count_terms(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer ids, view = {0};
    PyObject *holding = NULL, *parts = NULL, *result = NULL;
    if (expect(given, 2)) return NULL;
    if (open_view(arguments[0], &PLACES, &ids)) return NULL;
    State *state = PyModule_GetState(module);
    Py_ssize_t count = PyTuple_Check(arguments[1]) ? PyTuple_Size(arguments[1]) : 0;
    if (open_result(module, state->int64, ids.shape[0], &holding, &view)) goto done;
    memset(view.buf, 0, (size_t)view.len);
    parts = PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count && parts != NULL; i++) {
        PyObject *own = counted_part(module, PyTuple_GetItem(arguments[1], i), &ids, view.buf);
        if (own == NULL) Py_CLEAR(parts);
        else PyTuple_SetItem(parts, i, own);
    }
    if (parts != NULL) result = PyTuple_Pack(2, holding, parts);
done:
    PyBuffer_Release(&view);
    Py_XDECREF(parts);
    Py_XDECREF(holding);
    PyBuffer_Release(&ids);
    return result;
}

static double rarity(long long passages, int64_t holding)
{
    return log(1.0 + ((double)(int64_t)((uint64_t)passages - (uint64_t)holding) + 0.5) / ((double)holding + 0.5));
}

static PyObject *idfs(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer holding, view = {0};
    PyObject *result = NULL;
    if (expect(given, 2)) return NULL;
    if (open_view(arguments[1], &HOLDING, &holding)) goto done;
    long long passages = PyLong_AsLongLong(arguments[0]);
    if (passages == -1 && PyErr_Occurred()) goto done;
    State *state = PyModule_GetState(module);
    if (open_result(module, state->float64, holding.shape[0], &result, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    const int64_t *held = holding.buf;
    double *rare = view.buf;
    BEGIN_WORK(8 * holding.shape[0])
    for (Py_ssize_t i = 0; i < holding.shape[0]; i++)
        rare[i] = rarity(passages, held[i]);
    END_WORK
done:
    PyBuffer_Release(&view);
    PyBuffer_Release(&holding);
    return result;
}

/* ---- Feedback: what the passages that came first are made of. ---- */

enum { FEEDBACK_ARRAYS = 11, NOT_JUDGED = 0, MAY_EXPAND = 2 };

/* A segment's terms as in TERM_SHAPES, its forward index, the lengths of its passages, and its terms' texts. */
typedef union {
    TermViews terms;
    struct {
        TermViews before;
        Py_buffer offsets, places, frequencies, lengths, texts, ends;
    };
    Py_buffer all[FEEDBACK_ARRAYS];
} FeedbackViews;

static const Shape *const FEEDBACK_SHAPES[FEEDBACK_ARRAYS] = {
    &PLACES, &PLACES, &OFFSETS, &SLOTS, &MARKS, &OFFSETS, &PLACES, &FREQUENCIES, &WANTED, &TEXTS, &OFFSETS};

/* A term of a passage, or of several, and where one of them has its text: the greater worth comes first, then the text. */
typedef struct {
    double worth;
    const FeedbackViews *part;
    uint32_t place, id;
} Learnt;

/* What is learnt from `passages`, each the slot of a part; `found` are the terms chosen, or those not judged yet. */
typedef struct {
    FeedbackViews *parts;
    Py_ssize_t count, passages;
    const int64_t *places, *slots;
    const double *shares;
    const uint8_t *marks;
    Py_ssize_t marked;
    long long chunks;
    double average, k1, b, most;
    size_t terms;
    Learnt *found;
    size_t size, unjudged;
} Feedback;

/* The text of a term; none where its bounds lie outside. It is read for ties alone. */
static const uint8_t *text_of(const Learnt *one, size_t *length)
{
    const int64_t *ends = one->part->ends.buf;
    *length = 0;
    if ((Py_ssize_t)one->place + 1 >= one->part->ends.shape[0]) return NULL;
    int64_t start = ends[one->place], end = ends[one->place + 1];
    if (start < 0 || end <= start || end > one->part->texts.shape[0]) return NULL;
    *length = (size_t)(end - start);
    return (const uint8_t *)one->part->texts.buf + start;
}

static int comes_first(const Learnt *a, const Learnt *b)
{
    size_t lengths[2];
    if (a->worth != b->worth) return a->worth > b->worth;
    const uint8_t *first = text_of(a, &lengths[0]), *second = text_of(b, &lengths[1]);
    size_t both = lengths[0] < lengths[1] ? lengths[0] : lengths[1];
    int order = both ? memcmp(first, second, both) : 0;
    return order ? order < 0 : lengths[0] < lengths[1];
}

static int by_worth(const void *a, const void *b)
{
    const Learnt *one = a, *other = b;
    if (one->worth != other->worth) return one->worth > other->worth ? -1 : 1;
    return comes_first(one, other) ? -1 : comes_first(other, one);
}

/* Keep a term among the `most` that come first, in their order. */
static size_t keep_first(Learnt *kept, size_t count, size_t most, Learnt one)
{
    if (count == most && !comes_first(&one, &kept[count - 1])) return count;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_first(&one, &kept[middle])) high = middle;
        else low = middle + 1;
    }
    if (count < most) count++;
    memmove(kept + low + 1, kept + low, (count - low - 1) * sizeof *kept);
    kept[low] = one;
    return count;
}

/* Ask for what is counted of a passage's terms, which lies anywhere. */
static void fetch_learnt(const Feedback *own, const FeedbackViews *part, const uint32_t *places, int64_t count)
{
#if defined(__GNUC__)
    const uint32_t *ids = part->terms.views[0].buf;
    Py_ssize_t terms = part->terms.views[0].shape[0];
    for (int64_t i = 0; i < count; i++)
        if ((Py_ssize_t)places[i] < terms) __builtin_prefetch(ids + places[i]);
    for (int64_t i = 0; i < count; i++) {
        if ((Py_ssize_t)places[i] >= terms) continue;
        uint32_t id = ids[places[i]];
        __builtin_prefetch(own->marks + ((Py_ssize_t)id < own->marked ? (Py_ssize_t)id : own->marked - 1));
        for (Py_ssize_t at = 0; at < own->count; at++) {
            const Py_buffer *table = &own->parts[at].terms.views[1];
            if (table->buf != NULL && (Py_ssize_t)id < table->shape[0])
                __builtin_prefetch((const uint32_t *)table->buf + id);
        }
    }
    for (int64_t i = 0; i < count; i++) {
        if ((Py_ssize_t)places[i] >= terms) continue;
        uint32_t id = ids[places[i]];
        for (Py_ssize_t at = 0; at < own->count; at++) {
            const Py_buffer *table = &own->parts[at].terms.views[1], *offsets = &own->parts[at].terms.views[2];
            if (table->buf == NULL || (Py_ssize_t)id >= table->shape[0]) continue;
            uint32_t place = ((const uint32_t *)table->buf)[id];
            if ((Py_ssize_t)place < offsets->shape[0]) __builtin_prefetch((const int64_t *)offsets->buf + place);
        }
    }
#else
    (void)own, (void)part, (void)places, (void)count;
#endif
}

/* The terms of greatest impact of one passage go to `kept`, with their gains in the place of impacts. */
static enum failure learn_from(Feedback *own, Py_ssize_t passage, Learnt *kept, size_t *size)
{
    const FeedbackViews *part = &own->parts[own->places[passage]];
    int64_t slot = own->slots[passage];
    const int64_t *offsets = part->offsets.buf;
    const uint32_t *places = part->places.buf, *lengths = part->lengths.buf, *ids = part->terms.views[0].buf;
    const uint16_t *frequencies = part->frequencies.buf;
    double norm = own->k1 * (1.0 - own->b + own->b * (double)lengths[slot] / own->average), whole = 0.0;
    fetch_learnt(own, part, places + offsets[slot], offsets[slot + 1] - offsets[slot]);
    for (int64_t i = offsets[slot]; i < offsets[slot + 1]; i++) {
        if ((Py_ssize_t)places[i] >= part->terms.views[0].shape[0]) return OUTSIDE;
        Learnt one = {0.0, part, places[i], ids[places[i]]};
        uint8_t mark = own->marks[(Py_ssize_t)one.id < own->marked ? (Py_ssize_t)one.id : own->marked - 1];
        if (mark == NOT_JUDGED) own->found[own->unjudged++].id = one.id;
        if (mark != MAY_EXPAND || own->unjudged) continue;
        int64_t holding = 0, start, end;
        for (Py_ssize_t at = 0; at < own->count; at++) {
            uint32_t place;
            enum failure failure = count_in(&own->parts[at].terms, &one.id, 1, &place, &start, &end, &holding);
            if (failure) return failure;
        }
        double times = frequencies[i];
        one.worth = rarity(own->chunks, holding) * (times * own->most / (times + norm));
        if (one.worth > 0.0) *size = keep_first(kept, *size, own->terms, one);
    }
    for (size_t i = 0; i < *size; i++) whole += kept[i].worth;
    for (size_t i = 0; i < *size; i++) kept[i].worth = own->shares[passage] * kept[i].worth / whole;
    return FINE;
}

/* Add up what each term gains in all passages, in their order. */
static enum failure learn(Feedback *own)
{
    Learnt *kept = malloc((own->terms + 1) * sizeof *kept);
    Table table = {0};
    enum failure failure =
        kept == NULL ? NO_MEMORY : table_open(&table, own->passages * (Py_ssize_t)own->terms);
    for (Py_ssize_t passage = 0; passage < own->passages && !failure; passage++) {
        size_t size = 0;
        failure = learn_from(own, passage, kept, &size);
        for (size_t i = 0; i < size && !failure && !own->unjudged; i++) {
            uint32_t at = spread(kept[i].id) & table.mask;
            while (table.places[at] != NOWHERE && table.places[at] != kept[i].id) at = (at + 1) & table.mask;
            if (table.places[at] == kept[i].id) {
                own->found[table.numbers[at]].worth += kept[i].worth;
                continue;
            }
            table.places[at] = kept[i].id;
            table.numbers[at] = (uint32_t)own->size;
            own->found[own->size++] = kept[i];
        }
    }
    free(table.places);
    free(kept);
    return failure;
}

/* What the question's own terms gain is written down, and those that it has not are left, the greatest gain first. */
static void part_with(Feedback *own, const uint32_t *asked, Py_ssize_t terms, double *gains)
{
    memset(gains, 0, (size_t)terms * sizeof *gains);
    size_t fresh = 0;
    for (size_t i = 0; i < own->size; i++) {
        Py_ssize_t at = 0;
        while (at < terms && asked[at] != own->found[i].id) at++;
        if (at < terms) gains[at] = own->found[i].worth;
        else own->found[fresh++] = own->found[i];
    }
    own->size = fresh;
    qsort(own->found, fresh, sizeof *own->found, by_worth);
}

/* Room for what is learnt, where every passage is one. */
static int feedback_reserve(Feedback *own)
{
    int64_t held = 0;
    for (Py_ssize_t i = 0; i < own->passages; i++) {
        int64_t place = own->places[i], slot = own->slots[i];
        if (place < 0 || place >= own->count) return fail(OUT_OF_RANGE), -1;
        const FeedbackViews *part = &own->parts[place];
        if (slot < 0 || slot >= part->lengths.shape[0] || slot + 1 >= part->offsets.shape[0]) return fail(OUT_OF_RANGE), -1;
        const int64_t *offsets = part->offsets.buf;
        if (offsets[slot] < 0 || offsets[slot + 1] < offsets[slot] || offsets[slot + 1] > part->places.shape[0])
            return fail(OUTSIDE), -1;
        held += offsets[slot + 1] - offsets[slot];
    }
    if (own->terms > (size_t)held + 1) own->terms = (size_t)held + 1;
    own->found = malloc((size_t)(held + 1) * sizeof *own->found);
    return own->found == NULL ? (PyErr_NoMemory(), -1) : 0;
}

static PyObject *ids_of(PyObject *module, const Learnt *found, size_t count)
{
    Py_buffer view = {0};
    PyObject *result = NULL;
    State *state = PyModule_GetState(module);
    if (open_result(module, state->uint32, (Py_ssize_t)count, &result, &view)) Py_CLEAR(result);
    else for (size_t i = 0; i < count; i++) ((uint32_t *)view.buf)[i] = found[i].id;
    PyBuffer_Release(&view);
    return result;
}

static PyObject *worths_of(PyObject *module, const Learnt *found, size_t count)
{
    Py_buffer view = {0};
    PyObject *result = NULL;
    State *state = PyModule_GetState(module);
    if (open_result(module, state->float64, (Py_ssize_t)count, &result, &view)) Py_CLEAR(result);
    else for (size_t i = 0; i < count; i++) ((double *)view.buf)[i] = found[i].worth;
    PyBuffer_Release(&view);
    return result;
}

static PyObject *texts_of(const Learnt *found, size_t count)
{
    PyObject *texts = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && texts != NULL; i++) {
        size_t length;
        const uint8_t *text = text_of(&found[i], &length);
        PyObject *one = PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)length, NULL);
        if (one == NULL) Py_CLEAR(texts);
        else PyList_SetItem(texts, (Py_ssize_t)i, one);
    }
    return texts;
}

static int feedback_open(PyObject *parts, Feedback *own)
{
    own->count = PyTuple_Check(parts) ? PyTuple_Size(parts) : 0;
    own->parts = PyMem_Calloc((size_t)own->count + 1, sizeof *own->parts);
    if (own->parts == NULL) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < own->count; i++) {
        FeedbackViews *part = &own->parts[i];
        if (open_arrays(PyTuple_GetItem(parts, i), FEEDBACK_SHAPES, FEEDBACK_ARRAYS, 1 << 1 | 1 << 4, part->all))
            return -1;
        if (part->terms.views[2].shape[0] < 1 || part->offsets.shape[0] < 1 || part->ends.shape[0] < 1 ||
            part->frequencies.shape[0] != part->places.shape[0]) {
            PyErr_SetString(PyExc_ValueError, "offsets has the wrong length");
            return -1;
        }
    }
    return 0;
}

static void feedback_close(Feedback *own)
{
    for (Py_ssize_t i = 0; own->parts != NULL && i < own->count; i++)
        for (int at = 0; at < FEEDBACK_ARRAYS; at++) PyBuffer_Release(&own->parts[i].all[at]);
    PyMem_Free(own->parts);
    free(own->found);
}

static int read_feedback(PyObject *const *arguments, Feedback *own)
{
    own->chunks = PyLong_AsLongLong(arguments[6]);
    own->average = PyFloat_AsDouble(arguments[7]);
    own->k1 = PyFloat_AsDouble(arguments[8]);
    own->b = PyFloat_AsDouble(arguments[9]);
    own->most = own->k1 + 1.0;
    return PyErr_Occurred() || read_k(arguments[10], &own->terms) ? -1 : 0;
}

static PyObject *feedback_terms(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Feedback own = {0};
    Py_buffer places = {0}, slots = {0}, shares = {0}, marks = {0}, asked = {0}, view = {0};
    PyObject *gains = NULL, *result = NULL;
    State *state = PyModule_GetState(module);
    if (expect(given, 11)) return NULL;
    if (feedback_open(arguments[0], &own) || open_view(arguments[1], &STARTS, &places) ||
        open_view(arguments[2], &STARTS, &slots) || open_view(arguments[3], &WEIGHTS, &shares) ||
        open_view(arguments[4], &MARKS, &marks) || open_view(arguments[5], &PLACES, &asked) ||
        read_feedback(arguments, &own))
        goto done;
    if (slots.shape[0] != places.shape[0] || shares.shape[0] != places.shape[0] || marks.shape[0] < 1) {
        PyErr_SetString(PyExc_ValueError, "passages, shares and marks differ in size");
        goto done;
    }
    own.passages = places.shape[0], own.places = places.buf, own.slots = slots.buf, own.shares = shares.buf;
    own.marks = marks.buf, own.marked = marks.shape[0];
    if (feedback_reserve(&own) || open_result(module, state->float64, asked.shape[0], &gains, &view)) goto done;
    enum failure failure;
    BEGIN_WORK(4096 * own.passages)
    failure = learn(&own);
    if (!failure && !own.unjudged) part_with(&own, asked.buf, asked.shape[0], view.buf);
    END_WORK
    if (failure) fail(failure);
    else if (own.unjudged) result = ids_of(module, own.found, own.unjudged);
    else {
        PyObject *named = pair(ids_of(module, own.found, own.size), texts_of(own.found, own.size));
        Py_INCREF(gains);
        result = pair(pair(gains, worths_of(module, own.found, own.size)), named);
    }
done:
    PyBuffer_Release(&view);
    PyBuffer_Release(&asked);
    PyBuffer_Release(&marks);
    PyBuffer_Release(&shares);
    PyBuffer_Release(&slots);
    PyBuffer_Release(&places);
    Py_XDECREF(gains);
    feedback_close(&own);
    return result;
}

/* ---- Fusion: the values of completed scores between a question's constants, and their weight. ---- */

enum { FIFTH = 5, UNRELATED_SEEN = 10 };

/* `constants` are the background, the best cosine, the best BM25 score and the weight of vectors. */
typedef struct {
    const double *bm25, *vector;
    size_t count;
    double *words, *meaning, *scratch;
    double constants[4];
} Convex;

/* The value at a place of the rising order; `values` are put into another order. */
static double at_place(double *values, size_t count, size_t place)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        size_t left = low, right = high;
        for (;;) {
            while (values[left] < pivot) left++;
            while (pivot < values[right]) right--;
            if (left >= right) break;
            double held = values[left];
            values[left++] = values[right];
            values[right--] = held;
        }
        if (place <= right) high = right;
        else low = right + 1;
    }
    return values[place];
}

/* How far the middle value lies below the best. */
static double separation(const double *values, double *scratch, size_t count)
{
    if (!count) return 0.0;
    double best = values[0];
    for (size_t i = 1; i < count; i++) best = values[i] > best ? values[i] : best;
    memcpy(scratch, values, count * sizeof *values);
    return best - at_place(scratch, count, count / 2);
}

/* How far the best value lies above the fifth. */
static double lead(const double *values, size_t count)
{
    double first[FIFTH];
    size_t held = 0;
    if (count < FIFTH) return 0.5;
    for (size_t i = 0; i < count; i++) {
        if (held == FIFTH && !(values[i] > first[FIFTH - 1])) continue;
        size_t at = held < FIFTH ? held++ : FIFTH - 1;
        for (; at && first[at - 1] < values[i]; at--) first[at] = first[at - 1];
        first[at] = values[i];
    }
    return first[0] - first[FIFTH - 1];
}

static void convex_of(Convex *own)
{
    size_t count = own->count;
    double most = count ? own->vector[0] : 1.0, low = count ? own->vector[0] : 0.0, best = 0.0;
    for (size_t i = 0; i < count; i++) {
        most = own->vector[i] > most ? own->vector[i] : most;
        low = own->vector[i] < low ? own->vector[i] : low;
        best = own->bm25[i] > best ? own->bm25[i] : best;
    }
    double drawn = low * (double)count / (double)(count + UNRELATED_SEEN);
    low = drawn < low ? drawn : low;
    if (!(low < most)) low = most - 1.0;
    if (!(best > 0.0)) best = 1.0;
    for (size_t i = 0; i < count; i++) {
        own->words[i] = own->bm25[i] / best;
        own->meaning[i] = (own->vector[i] - low) / (most - low);
    }
    own->constants[0] = low, own->constants[1] = most, own->constants[2] = best;
}

/* The weight of vectors, by how sharply each retriever tells the candidates apart; `usual` where neither does. */
static double adaptive_weight(const Convex *own, double usual, double slope)
{
    double ahead = lead(own->words, own->count);
    double meaning = usual * separation(own->meaning, own->scratch, own->count) * exp(slope * (0.5 - ahead));
    double words = (1.0 - usual) * separation(own->words, own->scratch, own->count);
    return meaning + words > 0.0 ? meaning / (meaning + words) : usual;
}

static PyObject *convex_values(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Convex own = {0};
    Py_buffer bm25, vector = {0}, views[2] = {{0}, {0}};
    PyObject *made[2] = {NULL, NULL}, *result = NULL;
    State *state = PyModule_GetState(module);
    if (expect(given, 4)) return NULL;
    if (open_view(arguments[0], &WEIGHTS, &bm25) || open_view(arguments[1], &WEIGHTS, &vector) ||
        same_length(&vector, bm25.shape[0], "scores have the wrong length"))
        goto done;
    double usual = PyFloat_AsDouble(arguments[2]), slope = PyFloat_AsDouble(arguments[3]);
    if (PyErr_Occurred()) goto done;
    own.count = (size_t)bm25.shape[0], own.bm25 = bm25.buf, own.vector = vector.buf;
    own.scratch = malloc((own.count + 1) * sizeof *own.scratch);
    if (own.scratch == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (open_result(module, state->float64, bm25.shape[0], &made[0], &views[0]) ||
        open_result(module, state->float64, bm25.shape[0], &made[1], &views[1]))
        goto done;
    own.words = views[0].buf, own.meaning = views[1].buf;
    BEGIN_WORK(16 * own.count)
    convex_of(&own);
    own.constants[3] = adaptive_weight(&own, usual, slope);
    END_WORK
    result = Py_BuildValue("OO(dddd)", made[0], made[1], own.constants[0], own.constants[1], own.constants[2],
                           own.constants[3]);
done:
    for (int i = 0; i < 2; i++) {
        PyBuffer_Release(&views[i]);
        Py_XDECREF(made[i]);
    }
    free(own.scratch);
    PyBuffer_Release(&vector);
    PyBuffer_Release(&bm25);
    return result;
}

static PyObject *turn_over(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer offsets, slots = {0}, frequencies = {0}, views[3] = {{0}, {0}, {0}};
    PyObject *made[3] = {NULL, NULL, NULL}, *result = NULL;
    if (expect(given, 4)) return NULL;
    if (open_view(arguments[0], &OFFSETS, &offsets) || open_view(arguments[1], &SLOTS, &slots) ||
        open_view(arguments[2], &FREQUENCIES, &frequencies) ||
        same_length(&frequencies, slots.shape[0], "frequencies has the wrong length"))
        goto done;
    Py_ssize_t size = slots.shape[0], terms = offsets.shape[0] - 1, count = PyNumber_AsSsize_t(arguments[3], NULL);
    if (count == -1 && PyErr_Occurred()) goto done;
    if (terms < 0 || count < 0 || fits_slots(count) || fits_slots(terms)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "offsets has the wrong length");
        goto done;
    }
    State *state = PyModule_GetState(module);
    if (open_result(module, state->int64, count + 1, &made[0], &views[0]) ||
        open_result(module, state->uint32, size, &made[1], &views[1]) ||
        open_result(module, state->uint16, size, &made[2], &views[2]))
        goto done;
    enum failure failure;
    Py_BEGIN_ALLOW_THREADS
    failure = turned_over(offsets.buf, (uint32_t)terms, slots.buf, frequencies.buf, size, views[0].buf, count,
                          views[1].buf, views[2].buf);
    Py_END_ALLOW_THREADS
    result = failure ? fail(failure) : PyTuple_Pack(3, made[0], made[1], made[2]);
done:
    for (int i = 0; i < 3; i++) {
        PyBuffer_Release(&views[i]);
        Py_XDECREF(made[i]);
    }
    PyBuffer_Release(&frequencies);
    PyBuffer_Release(&slots);
    PyBuffer_Release(&offsets);
    return result;
}

static PyObject *find_texts(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    static const Shape *const SHAPES[7] = {&TEXTS, &OFFSETS, &HASHES, &PLACES, &TEXTS, &OFFSETS, &HASHES};
    Py_buffer views[7], view = {0};
    PyObject *result = NULL;
    memset(views, 0, sizeof views);
    if (expect(given, 7)) return NULL;
    for (int i = 0; i < 7; i++)
        if (open_view(arguments[i], SHAPES[i], &views[i])) goto done;
    Py_ssize_t count = views[3].shape[0], asked = views[6].shape[0];
    if (same_length(&views[1], count + 1, "offsets has the wrong length") ||
        same_length(&views[2], count, "hashes has the wrong length") ||
        same_length(&views[5], asked + 1, "offsets has the wrong length"))
        goto done;
    State *state = PyModule_GetState(module);
    if (open_result(module, state->uint32, asked, &result, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    Dictionary held = {views[0].buf, views[1].buf, views[2].buf, views[3].buf, count, views[0].shape[0]};
    const uint8_t *texts = views[4].buf;
    const int64_t *offsets = views[5].buf;
    const uint64_t *hashes = views[6].buf;
    uint32_t *places = view.buf;
    enum failure failure = FINE;
    BEGIN_WORK(128 * asked)
    for (Py_ssize_t i = 0; i < asked && !failure; i++) {
        int64_t start = offsets[i], end = offsets[i + 1];
        if (start < 0 || end < start || end > views[4].shape[0]) failure = OUTSIDE;
        else failure = find_in(&held, texts + start, end - start, hashes[i], places + i);
    }
    END_WORK
    if (failure) {
        Py_CLEAR(result);
        fail(failure);
    }
done:
    PyBuffer_Release(&view);
    for (int i = 0; i < 7; i++) PyBuffer_Release(&views[i]);
    return result;
}

static PyObject *phrase_marks(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer texts, offsets = {0}, marks = {0}, phrase = {0}, view = {0};
    PyObject *result = NULL;
    if (expect(given, 4)) return NULL;
    if (open_view(arguments[0], &TEXTS, &texts) || open_view(arguments[1], &OFFSETS, &offsets) ||
        open_view(arguments[2], &MARKS, &marks) || open_view(arguments[3], &TEXTS, &phrase) ||
        same_length(&offsets, marks.shape[0] + 1, "offsets has the wrong length"))
        goto done;
    if (phrase.shape[0] < 1) {
        PyErr_SetString(PyExc_ValueError, "the phrase is empty");
        goto done;
    }
    State *state = PyModule_GetState(module);
    if (open_result(module, state->uint8, marks.shape[0], &result, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    const int64_t *bounds = offsets.buf;
    const uint8_t *open = marks.buf;
    uint8_t *found = view.buf;
    int64_t count = marks.shape[0], size = texts.shape[0];
    enum failure failure = FINE;
    Finder find = finder();
    Py_BEGIN_ALLOW_THREADS
    for (int64_t i = 0; i < count && !failure; i++) {
        int64_t start = bounds[i], end = bounds[i + 1];
        if (start < 0 || end < start || end > size) failure = OUTSIDE;
        else found[i] = open[i] ? stands_in(find, (const uint8_t *)texts.buf + start, end - start, phrase.buf,
                                            phrase.shape[0])
                                : NO;
    }
    Py_END_ALLOW_THREADS
    if (failure) {
        Py_CLEAR(result);
        fail(failure);
    }
done:
    PyBuffer_Release(&view);
    PyBuffer_Release(&phrase);
    PyBuffer_Release(&marks);
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&texts);
    return result;
}

#define MOST_LETTERS 64
#define TOO_FAR 255

/* Read at most MOST_LETTERS code points of UTF-8; -1 for more of them, or for what is no UTF-8. */
static int letters_of(const uint8_t *text, int64_t size, uint32_t *letters, uint64_t *kinds)
{
    int count = 0;
    uint64_t seen = 0;
    for (int64_t at = 0; at < size;) {
        uint8_t first = text[at];
        int more = first < 0x80 ? 0 : first < 0xc0 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf8 ? 3 : -1;
        if (more < 0 || at + more >= size || count == MOST_LETTERS) return -1;
        uint32_t letter = more ? first & (0x3f >> more) : first;
        for (int i = 1; i <= more; i++) {
            if ((text[at + i] & 0xc0) != 0x80) return -1;
            letter = letter << 6 | (text[at + i] & 0x3f);
        }
        letters[count++] = letter;
        seen |= 1ULL << (letter & 63);
        at += more + 1;
    }
    *kinds = seen;
    return count;
}

/* Write down the texts that `most` edits may make of a word with these kinds of letters, and count them. */
CLONES static int64_t like_kinds(const uint64_t *restrict kinds, int64_t count, uint64_t own, int most,
                                 uint32_t *restrict places)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        places[found] = (uint32_t)i;
        found += (int)POPCOUNT(own & ~kinds[i]) <= most && (int)POPCOUNT(kinds[i] & ~own) <= most;
    }
    return found;
}

static PyObject *letter_kinds(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer texts, offsets = {0}, view = {0};
    PyObject *result = NULL;
    uint32_t letters[MOST_LETTERS];
    if (expect(given, 2)) return NULL;
    if (open_view(arguments[0], &TEXTS, &texts) || open_view(arguments[1], &OFFSETS, &offsets)) goto done;
    if (offsets.shape[0] < 1) {
        PyErr_SetString(PyExc_ValueError, "offsets has the wrong length");
        goto done;
    }
    State *state = PyModule_GetState(module);
    int64_t count = offsets.shape[0] - 1, size = texts.shape[0];
    if (open_result(module, state->uint64, count, &result, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    const int64_t *bounds = offsets.buf;
    uint64_t *kinds = view.buf;
    enum failure failure = FINE;
    Py_BEGIN_ALLOW_THREADS
    for (int64_t i = 0; i < count && !failure; i++) {
        int64_t start = bounds[i], end = bounds[i + 1];
        kinds[i] = 0;
        if (start < 0 || end < start || end > size) failure = OUTSIDE;
        else if (letters_of((const uint8_t *)texts.buf + start, end - start, letters, &kinds[i]) < 0) kinds[i] = UINT64_MAX;
    }
    Py_END_ALLOW_THREADS
    if (failure) {
        Py_CLEAR(result);
        fail(failure);
    }
done:
    PyBuffer_Release(&view);
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&texts);
    return result;
}

/* Optimal string alignment: insertion, deletion, substitution, and neighbors swapped; TOO_FAR beyond `most`. */
static uint8_t edits_between(const uint32_t *a, int m, const uint32_t *b, int n, int most)
{
    uint8_t rows[3][MOST_LETTERS + 1], *two = rows[0], *one = rows[1], *now = rows[2];
    for (int j = 0; j <= n; j++) one[j] = (uint8_t)j;
    for (int i = 1; i <= m; i++) {
        uint8_t least = now[0] = (uint8_t)i;
        for (int j = 1; j <= n; j++) {
            uint8_t best = (uint8_t)(one[j - 1] + (a[i - 1] != b[j - 1]));
            if (one[j] + 1 < best) best = (uint8_t)(one[j] + 1);
            if (now[j - 1] + 1 < best) best = (uint8_t)(now[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two[j - 2] + 1 < best)
                best = (uint8_t)(two[j - 2] + 1);
            now[j] = best;
            if (best < least) least = best;
        }
        if (least > most) return TOO_FAR;
        uint8_t *spare = two;
        two = one;
        one = now;
        now = spare;
    }
    return one[n] > most ? TOO_FAR : one[n];
}

static PyObject *edit_distances(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer texts, offsets = {0}, held = {0}, word = {0}, view = {0};
    PyObject *result = NULL;
    uint32_t wanted[MOST_LETTERS], letters[MOST_LETTERS], *places = NULL;
    uint64_t kinds = 0, others = 0;
    if (expect(given, 5)) return NULL;
    if (open_view(arguments[0], &TEXTS, &texts) || open_view(arguments[1], &OFFSETS, &offsets) ||
        open_view(arguments[2], &HASHES, &held) || open_view(arguments[3], &TEXTS, &word) ||
        same_length(&held, offsets.shape[0] - 1, "kinds has the wrong length") || fits_slots(held.shape[0]))
        goto done;
    long most = PyLong_AsLong(arguments[4]);
    if (most == -1 && PyErr_Occurred()) goto done;
    if (most < 0 || most > 2 || offsets.shape[0] < 1) {
        PyErr_SetString(PyExc_ValueError, "most must be from 0 to 2");
        goto done;
    }
    State *state = PyModule_GetState(module);
    int64_t count = offsets.shape[0] - 1, size = texts.shape[0];
    if (open_result(module, state->uint8, count, &result, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    const int64_t *bounds = offsets.buf;
    uint8_t *found = view.buf;
    enum failure failure = FINE;
    Py_BEGIN_ALLOW_THREADS
    int length = letters_of(word.buf, word.shape[0], wanted, &kinds);
    places = malloc((size_t)(count + 1) * sizeof *places);
    if (places == NULL) failure = NO_MEMORY;
    int64_t like = length < 0 || failure ? 0 : like_kinds(held.buf, count, kinds, (int)most, places);
    if (count) memset(found, TOO_FAR, (size_t)count);
    for (int64_t at = 0; at < like && !failure; at++) {
        uint32_t i = places[at];
        int64_t start = bounds[i], end = bounds[i + 1];
        if (start < 0 || end < start || end > size) failure = OUTSIDE;
        else if (end - start + most >= length && end - start <= 4 * (length + most)) {
            int other = letters_of((const uint8_t *)texts.buf + start, end - start, letters, &others);
            if (other >= 0 && other <= length + most && length <= other + most)
                found[i] = edits_between(wanted, length, letters, other, (int)most);
        }
    }
    free(places);
    Py_END_ALLOW_THREADS
    if (failure) {
        Py_CLEAR(result);
        fail(failure);
    }
done:
    PyBuffer_Release(&view);
    PyBuffer_Release(&word);
    PyBuffer_Release(&held);
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&texts);
    return result;
}

/* ---- The words of folded texts, counted. ---- */

enum { LONGEST_WORD = 96, WAITING = 32, BESIDE = 0, INSIDE = 1, JOINT = 2 };

typedef struct {
    const uint8_t *text;
    uint64_t first; /* its first eight bytes, which order as it does */
    int64_t often;
    uint32_t length, hash;
} Word;

typedef struct {
    Word *held;
    uint64_t *table; /* open; a hash in the upper half, in the lower one more than the place of its word, 0 for none */
    size_t count, size; /* words; places of the table, a power of two and twice as many at least */
    uint64_t seed; /* of this process, so that no texts can be made whose words all collide */
    uint8_t kinds[256];
    Word waiting[WAITING]; /* counted together, so that their places come from memory meanwhile */
    size_t waits;
} Words;

/* What a byte is to a word: what parts words, what they are made of, or what joins them. */
static int kind_of_byte(uint8_t byte)
{
    if (byte == '-' || byte == '.' || byte == '\'') return JOINT;
    if (byte >= 128 || byte == '_' || (byte >= '0' && byte <= '9')) return INSIDE;
    return ((byte | 32) >= 'a' && (byte | 32) <= 'z') ? INSIDE : BESIDE;
}

static uint64_t first_bytes(const uint8_t *text, size_t length)
{
    uint64_t first = 0;
    for (size_t i = 0; i < 8; i++) first = first << 8 | (i < length ? text[i] : 0);
    return first;
}

static uint32_t hash_of(const uint8_t *text, size_t length, uint64_t first, uint64_t seed)
{
    uint64_t hash = ((seed ^ length) + first) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t at = 8; at < length; at += 8) {
        hash ^= hash >> 32;
        hash = (hash ^ first_bytes(text + at, length - at)) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return (uint32_t)(hash >> 32 ^ hash >> 17);
}

static enum failure words_grow(Words *words)
{
    size_t size = words->size ? 2 * words->size : 1024;
    Word *held = realloc(words->held, size / 2 * sizeof *held);
    if (held == NULL) return NO_MEMORY;
    words->held = held;
    uint64_t *table = calloc(size, sizeof *table);
    if (table == NULL || size > UINT32_MAX) {
        free(table);
        return NO_MEMORY;
    }
    for (size_t i = 0; i < words->count; i++) {
        size_t at = held[i].hash & (size - 1);
        while (table[at]) at = (at + 1) & (size - 1);
        table[at] = (uint64_t)held[i].hash << 32 | (i + 1);
    }
    free(words->table);
    words->table = table;
    words->size = size;
    return FINE;
}

static enum failure words_put(Words *words, const Word *one)
{
    if (2 * words->count >= words->size && words_grow(words)) return NO_MEMORY;
    uint64_t found;
    size_t at = one->hash & (words->size - 1);
    for (; (found = words->table[at]); at = (at + 1) & (words->size - 1)) {
        if (found >> 32 != one->hash) continue;
        Word *word = &words->held[(uint32_t)found - 1];
        if (word->first != one->first || word->length != one->length) continue;
        if (one->length > 8 && memcmp(word->text + 8, one->text + 8, one->length - 8)) continue;
        word->often += one->often;
        return FINE;
    }
    words->held[words->count++] = *one;
    words->table[at] = (uint64_t)one->hash << 32 | words->count;
    return FINE;
}

static enum failure words_settle(Words *words)
{
    enum failure failure = FINE;
    for (size_t i = 0; i < words->waits && words->size; i++) {
        uint64_t found = words->table[words->waiting[i].hash & (words->size - 1)];
        if (found) PREFETCH(&words->held[(uint32_t)found - 1]);
    }
    for (size_t i = 0; i < words->waits && !failure; i++) failure = words_put(words, &words->waiting[i]);
    words->waits = 0;
    return failure;
}

/* Count a word, `often` times; it is counted when `words_settle` was called. */
static enum failure words_add(Words *words, const uint8_t *text, size_t length, int64_t often)
{
    if (length > UINT32_MAX) return OUT_OF_RANGE;
    uint64_t first = first_bytes(text, length);
    uint32_t hash = hash_of(text, length, first, words->seed);
    if (words->size) PREFETCH(&words->table[hash & (words->size - 1)]);
    words->waiting[words->waits++] = (Word){text, first, often, (uint32_t)length, hash};
    return words->waits == WAITING ? words_settle(words) : FINE;
}

/* Add a run of ASCII: what joints part in it, and all of it. */
static enum failure add_run(Words *words, const uint8_t *run, size_t length)
{
    size_t start = 0;
    enum failure failure = FINE;
    for (size_t at = 0; at <= length && !failure; at++) {
        int ends = at == length || words->kinds[run[at]] == JOINT;
        if (!ends) continue;
        int whole = start == 0 && at == length;
        if (at > start && !whole && at - start <= LONGEST_WORD) failure = words_add(words, run + start, at - start, 1);
        start = at + 1;
    }
    return failure || length > LONGEST_WORD ? failure : words_add(words, run, length, 1);
}

/* Count the words of one text; runs with more than ASCII are counted whole, in `others`. */
static enum failure add_text(Words *words, Words *others, const uint8_t *text, int64_t length)
{
    enum failure failure = FINE;
    const uint8_t *kinds = words->kinds;
    for (int64_t at = 0; at < length && !failure;) {
        while (at < length && kinds[text[at]] == BESIDE) at++;
        int64_t start = at;
        uint8_t bits = 0;
        for (; at < length && kinds[text[at]] != BESIDE; at++) bits |= text[at];
        int64_t end = at;
        while (start < end && kinds[text[start]] == JOINT) start++;
        while (end > start && kinds[text[end - 1]] == JOINT) end--;
        if (start == end) continue;
        failure = bits & 128 ? words_add(others, text + start, (size_t)(end - start), 1)
                             : add_run(words, text + start, (size_t)(end - start));
    }
    return failure;
}

/* Have Python part the runs with more than ASCII; `kept` holds what it gives for as long as the words are used. */
static int add_parted(Words *words, const Words *others, PyObject *part, PyObject *kept)
{
    for (size_t i = 0; i < others->count; i++) {
        const Word *run = &others->held[i];
        PyObject *found = PyObject_CallFunction(part, "y#", (const char *)run->text, (Py_ssize_t)run->length);
        if (found == NULL) return -1;
        int failed = !PyList_Check(found) || PyList_Append(kept, found);
        for (Py_ssize_t j = 0; !failed && j < PyList_Size(found); j++) {
            char *text;
            Py_ssize_t length;
            failed = PyBytes_AsStringAndSize(PyList_GetItem(found, j), &text, &length);
            if (failed || length == 0 || length > LONGEST_WORD) continue;
            failed = words_add(words, (const uint8_t *)text, (size_t)length, run->often) != FINE;
        }
        Py_DECREF(found);
        if (failed) return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    }
    return 0;
}

static int by_bytes(const void *left, const void *right)
{
    const Word *a = left, *b = right;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Give (texts, offsets, counts) of sorted words. */
static PyObject *words_as_arrays(PyObject *module, const Words *words)
{
    State *state = PyModule_GetState(module);
    PyObject *kinds[3] = {state->uint8, state->int64, state->int64}, *made[3] = {0}, *result = NULL;
    Py_buffer views[3] = {{0}, {0}, {0}};
    int64_t bytes = 0;
    for (size_t i = 0; i < words->count; i++) bytes += (int64_t)words->held[i].length;
    int64_t sizes[3] = {bytes, (int64_t)words->count + 1, (int64_t)words->count};
    int failed = 0;
    for (int i = 0; i < 3 && !failed; i++) failed = open_result(module, kinds[i], sizes[i], &made[i], &views[i]);
    if (!failed) {
        int64_t *offsets = views[1].buf, *counts = views[2].buf;
        offsets[0] = 0;
        for (size_t i = 0; i < words->count; i++) {
            memcpy((uint8_t *)views[0].buf + offsets[i], words->held[i].text, words->held[i].length);
            offsets[i + 1] = offsets[i] + (int64_t)words->held[i].length;
            counts[i] = words->held[i].often;
        }
        result = PyTuple_Pack(3, made[0], made[1], made[2]);
    }
    for (int i = 0; i < 3; i++) {
        PyBuffer_Release(&views[i]);
        Py_XDECREF(made[i]);
    }
    return result;
}

static PyObject *count_words(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer texts, offsets = {0};
    Words words = {0}, others = {0};
    PyObject *result = NULL, *kept = PyList_New(0), *salt = PyBytes_FromString("words");
    if (kept == NULL || salt == NULL || expect(given, 3)) goto unopened;
    words.seed = others.seed = (uint64_t)PyObject_Hash(salt);
    for (int byte = 0; byte < 256; byte++) words.kinds[byte] = (uint8_t)kind_of_byte((uint8_t)byte);
    if (open_view(arguments[0], &TEXTS, &texts) || open_view(arguments[1], &OFFSETS, &offsets)) goto done;
    if (offsets.shape[0] < 1) {
        PyErr_SetString(PyExc_ValueError, "offsets has the wrong length");
        goto done;
    }
    const int64_t *bounds = offsets.buf;
    enum failure failure = FINE;
    BEGIN_WORK(texts.shape[0])
    for (int64_t i = 0; i + 1 < offsets.shape[0] && !failure; i++) {
        int64_t start = bounds[i], end = bounds[i + 1];
        if (start < 0 || end < start || end > texts.shape[0]) failure = OUTSIDE;
        else failure = add_text(&words, &others, (const uint8_t *)texts.buf + start, end - start);
    }
    if (!failure) failure = words_settle(&others);
    END_WORK
    if (failure) {
        fail(failure);
        goto done;
    }
    if (add_parted(&words, &others, arguments[2], kept)) goto done;
    if (words_settle(&words)) {
        PyErr_NoMemory();
        goto done;
    }
    BEGIN_WORK(words.count)
    if (words.count) qsort(words.held, words.count, sizeof *words.held, by_bytes);
    END_WORK
    result = words_as_arrays(module, &words);
done:
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&texts);
unopened:
    free(words.held);
    free(words.table);
    free(others.held);
    free(others.table);
    Py_XDECREF(kept);
    Py_XDECREF(salt);
    return result;
}

/* Open a term's stretch of slots and the marks; whatever happens, both views must be released. */
static int open_stretch(PyObject *const *arguments, const Shape *shape, Py_buffer *slots, Py_buffer *marks,
                        int64_t *start, int64_t *end)
{
    memset(marks, 0, sizeof *marks);
    if (open_view(arguments[0], &SLOTS, slots) || open_view(arguments[3], shape, marks)) return -1;
    Py_ssize_t first = PyNumber_AsSsize_t(arguments[1], NULL), last;
    if (first == -1 && PyErr_Occurred()) return -1;
    last = PyNumber_AsSsize_t(arguments[2], NULL);
    if (last == -1 && PyErr_Occurred()) return -1;
    if (first < 0 || last < first || last > slots->shape[0]) {
        PyErr_SetString(PyExc_ValueError, "a term lies outside the postings");
        return -1;
    }
    *start = first;
    *end = last;
    return 0;
}

static PyObject *mark(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    (void)module;
    Py_buffer slots, marks;
    int64_t start, end;
    PyObject *result = NULL;
    if (expect(given, 4)) return NULL;
    if (open_stretch(arguments, &MARKS_TO_SET, &slots, &marks, &start, &end) == 0) {
        const uint32_t *held = slots.buf;
        uint8_t *marked = marks.buf;
        uint64_t length = (uint64_t)marks.shape[0];
        uint32_t largest = 0;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t i = start; i < end; i++) largest = held[i] > largest ? held[i] : largest;
        if (start == end || largest < length)
            for (int64_t i = start; i < end; i++) {
                uint32_t slot = held[i];
                if (slot < length) marked[slot] = 1;
            }
        Py_END_ALLOW_THREADS
        result = start != end && largest >= length ? fail(OUT_OF_RANGE) : Py_NewRef(Py_None);
    }
    PyBuffer_Release(&slots);
    PyBuffer_Release(&marks);
    return result;
}

static PyObject *top_scores(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer scores, allowed = {0};
    Best best = {0};
    size_t k;
    PyObject *result = NULL;
    if (expect(given, 3)) return NULL;
    if (open_view(arguments[0], &SCORES, &scores) == 0 && fits_slots(scores.shape[0]) == 0 &&
        open_allowed(arguments[1], scores.shape[0], &allowed) == 0 && read_k(arguments[2], &k) == 0) {
        size_t count = (size_t)scores.shape[0];
        enum failure failure;
        BEGIN_WORK(count / 8)
        failure = best_init(&best, k, count, -INFINITY);
        if (!failure) failure = scan_scores(scores.buf, count, allowed.buf, &best);
        if (!failure) best_cut(&best);
        END_WORK
        result = failure ? fail(failure) : slots_of(module, &best);
    }
    best_free(&best);
    PyBuffer_Release(&allowed);
    PyBuffer_Release(&scores);
    return result;
}

static PyObject *dots(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer query, rows = {0}, view = {0};
    PyObject *result = NULL;
    if (expect(given, 2)) return NULL;
    if (open_view(arguments[0], &QUERY_CODE, &query) || open_view(arguments[1], &ROW_CODES, &rows)) goto done;
    if (rows.shape[1] != query.shape[0] || query.shape[0] == 0 || query.shape[0] > WIDEST) {
        PyErr_SetString(PyExc_ValueError, "rows and query differ in width");
        goto done;
    }
    State *state = PyModule_GetState(module);
    result = PyObject_CallFunction(state->empty, "nO", rows.shape[0], state->int32);
    if (result == NULL) goto done;
    if (open_view(result, &RESULT, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    Products of = {query.buf, rows.buf, (size_t)query.shape[0], NULL, (uint64_t)rows.shape[0], 0};
    BEGIN_WORK((uint64_t)rows.shape[0] * (uint64_t)rows.shape[1] / 64)
    dots_of(&of, view.buf);
    END_WORK
done:
    PyBuffer_Release(&view);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&query);
    return result;
}

static int misfit(void)
{
    PyErr_SetString(PyExc_ValueError, "query, rows, codes, bits and their numbers differ in size");
    return -1;
}

/* A query's eight bits, as rows have theirs: the step is the greatest number divided by 127. */
static int code_query(const float *query, size_t width, int8_t *code, float *step)
{
    float largest = 0.0f;
    for (size_t i = 0; i < width; i++) {
        if (!isfinite(query[i])) return PyErr_SetString(PyExc_ValueError, "a vector holds a value that is not finite"), -1;
        largest = fabsf(query[i]) > largest ? fabsf(query[i]) : largest;
    }
    *step = largest / 127.0f;
    float by = 127.0f / (largest > 0.0f ? largest : 127.0f);
    for (size_t i = 0; i < width; i++) {
        float level = rintf(query[i] * by);
        code[i] = level >= -127.0f && level <= 127.0f ? (int8_t)level : 0;
    }
    return 0;
}

CLONES static void turn_query(const float *restrict query, const float *restrict rotation, size_t width, size_t turned,
                              float *restrict made)
{
    memset(made, 0, turned * sizeof *made);
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j < turned; j++) made[j] += query[i] * rotation[i * turned + j];
}

/* What a query is compared with a segment's bits by: (turned query less turned center, product with center, length). */
static PyObject *compared_with(PyObject *module, PyObject *centers, const Py_buffer *query, const float *made, size_t turned)
{
    static const Shape *const shapes[2] = {&TURNED, &TURNED};
    Py_buffer views[2] = {{0}, {0}}, view = {0};
    State *state = PyModule_GetState(module);
    PyObject *apart = NULL;
    double base = 0.0, square = 0.0;
    int failed = open_arrays(centers, shapes, 2, 0, views);
    if (!failed && (views[0].shape[0] != query->shape[0] || views[1].shape[0] != (Py_ssize_t)turned)) failed = misfit();
    if (!failed) failed = open_result(module, state->float32, (Py_ssize_t)turned, &apart, &view);
    if (!failed) {
        const float *center = views[0].buf, *placed = views[1].buf, *asked = query->buf;
        float *into = view.buf;
        for (Py_ssize_t i = 0; i < query->shape[0]; i++) base += (double)center[i] * (double)asked[i];
        for (size_t j = 0; j < turned; j++) {
            into[j] = made[j] - placed[j];
            square += (double)into[j] * (double)into[j];
        }
    }
    PyObject *result = failed ? NULL : Py_BuildValue("Odd", apart, base, sqrt(square));
    for (int i = 0; i < 2; i++) PyBuffer_Release(&views[i]);
    PyBuffer_Release(&view);
    Py_XDECREF(apart);
    return result;
}

static PyObject *coded_query(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer query = {0}, rotation = {0}, view = {0};
    PyObject *code = NULL, *compared = NULL, *result = NULL;
    State *state = PyModule_GetState(module);
    float step, *made = NULL;
    if (expect(given, 3)) return NULL;
    if (open_view(arguments[0], &TURNED, &query) ||
        (arguments[1] != Py_None && open_view(arguments[1], &ROTATION, &rotation)))
        goto done;
    size_t width = (size_t)query.shape[0], turned = rotation.obj == NULL ? 0 : (size_t)rotation.shape[1];
    if (!PyTuple_Check(arguments[2]) || (rotation.obj != NULL && rotation.shape[0] != query.shape[0])) {
        misfit();
        goto done;
    }
    made = PyMem_Malloc((turned + 1) * sizeof *made);
    if (made == NULL) PyErr_NoMemory();
    if (made == NULL || open_result(module, state->int8, (Py_ssize_t)width, &code, &view) ||
        code_query(query.buf, width, view.buf, &step))
        goto done;
    if (turned) turn_query(query.buf, rotation.buf, width, turned, made);
    compared = PyList_New(PyTuple_Size(arguments[2]));
    for (Py_ssize_t i = 0; compared != NULL && i < PyTuple_Size(arguments[2]); i++) {
        PyObject *one = compared_with(module, PyTuple_GetItem(arguments[2], i), &query, made, turned);
        if (one == NULL) Py_CLEAR(compared);
        else PyList_SetItem(compared, i, one);
    }
    if (compared != NULL) result = Py_BuildValue("OdO", code, (double)step, compared);
done:
    Py_XDECREF(compared);
    PyBuffer_Release(&view);
    Py_XDECREF(code);
    PyMem_Free(made);
    PyBuffer_Release(&rotation);
    PyBuffer_Release(&query);
    return result;
}

enum { PLANE_ARRAYS = 10, PLANE_ITEMS = 12 };

/* One segment as Python gives it: its arrays and what they are searched with. */
typedef struct {
    Py_buffer views[PLANE_ARRAYS];
} PlaneViews;

static const Shape *const PLANE_SHAPES[PLANE_ARRAYS] = {&ROW_VECTORS, &ROW_CODES,   &ROW_NUMBERS, &ALLOWED, &ROW_BITS,
                                                        &ROW_NUMBERS, &ROW_NUMBERS, &ROW_NUMBERS, &ROW_BITS,
                                                        &TURNED};

/* Open and check one segment; whatever happens, its views must be released and what `part` owns freed. */
static int searched_open(PyObject *plane, const Near *near, double by_scale, PlaneViews *held, Searched *part)
{
    if (!PyTuple_Check(plane) || PyTuple_Size(plane) != PLANE_ITEMS) {
        PyErr_SetString(PyExc_TypeError, "a plane is a tuple of twelve");
        return -1;
    }
    Py_buffer *views = held->views;
    for (int i = 0; i < PLANE_ARRAYS; i++) {
        PyObject *array = PyTuple_GetItem(plane, i);
        if (i >= 3 && array == Py_None) continue;
        if (open_view(array, PLANE_SHAPES[i], &views[i])) return -1;
    }
    Py_ssize_t rows = views[0].shape[0];
    if (views[0].shape[1] != (Py_ssize_t)near->width || views[1].shape[0] != rows || views[1].shape[1] != (Py_ssize_t)near->width ||
        views[2].shape[0] != rows || (views[3].buf != NULL && views[3].shape[0] != rows))
        return misfit();
    part->vectors = views[0].buf;
    part->codes = views[1].buf;
    part->scales = views[2].buf;
    part->allowed = views[3].obj == NULL ? NULL : views[3].buf;
    part->rows = part->count = (uint64_t)rows;
    if (views[4].obj == NULL) return 0;
    size_t words = (near->width + 63) / 64;
    if (views[9].obj == NULL || views[9].shape[0] != (Py_ssize_t)(64 * words) || views[4].shape[1] != (Py_ssize_t)(words * LANES) ||
        views[4].shape[0] != rows / LANES + (rows % LANES != 0))
        return misfit();
    for (int i = 5; i < 9; i++)
        if (views[i].obj == NULL || views[i].shape[0] != rows) return misfit();
    if (views[8].shape[1] < (Py_ssize_t)words + 2) return misfit();
    double base = PyFloat_AsDouble(PyTuple_GetItem(plane, 10)), by_spread = PyFloat_AsDouble(PyTuple_GetItem(plane, 11));
    if (PyErr_Occurred()) return -1;
    part->planes = malloc(PLANES * words * sizeof *part->planes);
    if (part->planes == NULL) return PyErr_NoMemory(), -1;
    part->by = planes_of(views[9].buf, 64 * words, base, by_spread, by_scale, part->planes);
    part->bits = (BitRows){views[4].buf, views[5].buf,          views[6].buf,  views[7].buf,
                           views[8].buf, views[8].shape[1], part->allowed, (uint64_t)rows, 0};
    return 0;
}

/* List the rows that may be found where they are less than one in eight. */
static enum failure searched_prepare(Searched *part)
{
    if (part->planes == NULL && part->allowed != NULL) {
        uint64_t open = 0;
        for (uint64_t i = 0; i < part->rows; i++) open += part->allowed[i] != 0;
        if (open * 8 < part->rows) {
            part->listed = malloc((open ? open : 1) * sizeof *part->listed);
            if (part->listed == NULL) return NO_MEMORY;
            part->count = 0;
            for (uint64_t i = 0; i < part->rows && part->count < open; i++)
                if (part->allowed[i]) part->listed[part->count++] = (uint32_t)i;
        }
    }
    return FINE;
}

/* Open what a thread finds the k nearest of `rows` rows in. */
static enum failure found_open(Found *own, const Near *near, const Searched *parts, Py_ssize_t count, uint64_t rows)
{
    *own = (Found){.near = near, .parts = parts, .count = count, .k = near->k < rows ? near->k : rows + 1,
                   .rows = rows + 1, .floor = -INFINITY, .guesses = 1};
    own->scan.least = own->scan.guess = -INFINITY;
    own->sums = calloc(near->padded, sizeof *own->sums);
    own->heap = malloc(own->k * sizeof *own->heap);
    return own->sums == NULL || own->heap == NULL ? NO_MEMORY : FINE;
}

static void found_close(Found *own)
{
    free(own->scan.reaching.rows);
    free(own->scan.reaching.bounds);
    free(own->scan.reaching.inners);
    free(own->scan.places);
    free(own->scan.estimates);
    free(own->heap);
    free(own->slots);
    free(own->scores);
    free(own->worths);
    free(own->sums);
}

/* The rows found, segment by segment, as a list of (slots, scores). */
static PyObject *found_by_part(PyObject *module, const Found *found, const Searched *parts, Py_ssize_t count)
{
    State *state = PyModule_GetState(module);
    PyObject *result = PyList_New(count);
    size_t room = found->found ? found->found : 1;
    uint32_t *slots = PyMem_Malloc(room * sizeof *slots);
    double *scores = PyMem_Malloc(room * sizeof *scores);
    if (slots == NULL || scores == NULL) PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && result != NULL && !PyErr_Occurred(); i++) {
        size_t held = 0;
        for (size_t j = 0; j < found->found; j++) {
            uint32_t slot = found->slots[j] - parts[i].first;
            if (found->slots[j] < parts[i].first || slot >= parts[i].rows) continue;
            slots[held] = slot;
            scores[held++] = found->scores[j];
        }
        PyObject *own = pair(new_array(module, state->uint32, slots, held, sizeof *slots),
                             new_array(module, state->float64, scores, held, sizeof *scores));
        if (own != NULL) PyList_SetItem(result, i, own);
    }
    PyMem_Free(slots);
    PyMem_Free(scores);
    if (PyErr_Occurred()) Py_CLEAR(result);
    return result;
}

static int read_near(PyObject *const *arguments, Near *near, double *by_scale)
{
    near->step = (float)PyFloat_AsDouble(arguments[2]);
    near->rounding = (float)PyFloat_AsDouble(arguments[5]);
    near->margin = PyFloat_AsDouble(arguments[6]);
    *by_scale = PyFloat_AsDouble(arguments[7]);
    if (PyErr_Occurred() || read_k(arguments[3], &near->k) || read_k(arguments[4], &near->looked)) return -1;
    near->padded = 1;
    while (near->padded < near->width) near->padded *= 2;
    near->at_once = counts_at_once();
    return 0;
}

static PyObject *search_parts(PyObject *module, const Near *near, Searched *parts, Py_ssize_t count, Py_ssize_t threads)
{
    Found own[2];
    memset(own, 0, sizeof own);
    uint64_t rows = 0;
    enum failure failure = FINE;
    for (Py_ssize_t i = 0; i < count; i++) {
        parts[i].first = (uint32_t)rows;
        rows += parts[i].rows;
    }
    if (rows > UINT32_MAX) return fits_slots((Py_ssize_t)rows), NULL;
    BEGIN_WORK(8 * rows)
    for (Py_ssize_t i = 0; i < count && !failure; i++) failure = searched_prepare(&parts[i]);
    for (Py_ssize_t i = 0; i < 2 && !failure; i++) failure = found_open(&own[i], near, parts, count, rows);
    if (!failure) failure = search_all(own, threads);
    END_WORK
    PyObject *result = failure ? fail(failure) : found_by_part(module, &own[0], parts, count);
    for (Py_ssize_t i = 0; i < 2; i++) found_close(&own[i]);
    return result;
}

static PyObject *nearest_rows(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer exact, code = {0};
    PlaneViews *views = NULL;
    Searched *parts = NULL;
    Near near = {0};
    PyObject *result = NULL;
    double by_scale;
    Py_ssize_t count = 0;
    if (expect(given, 10)) return NULL;
    if (open_view(arguments[0], &QUERY_VECTOR, &exact) || open_view(arguments[1], &QUERY_CODE, &code)) goto done;
    near.exact = exact.buf;
    near.code = code.buf;
    near.width = (size_t)exact.shape[0];
    if (code.shape[0] != exact.shape[0] || near.width == 0 || near.width > WIDEST || !PyTuple_Check(arguments[8])) {
        misfit();
        goto done;
    }
    Py_ssize_t threads = PyNumber_AsSsize_t(arguments[9], NULL);
    if (read_near(arguments, &near, &by_scale) || PyErr_Occurred()) goto done;
    count = PyTuple_Size(arguments[8]);
    views = PyMem_Calloc(count ? (size_t)count : 1, sizeof *views);
    parts = PyMem_Calloc(count ? (size_t)count : 1, sizeof *parts);
    if (views == NULL || parts == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (searched_open(PyTuple_GetItem(arguments[8], i), &near, by_scale, &views[i], &parts[i])) goto done;
    result = search_parts(module, &near, parts, count, threads);
done:
    for (Py_ssize_t i = 0; i < count && views != NULL && parts != NULL; i++) {
        for (int j = 0; j < PLANE_ARRAYS; j++) PyBuffer_Release(&views[i].views[j]);
        free(parts[i].planes);
        free(parts[i].listed);
    }
    PyMem_Free(parts);
    PyMem_Free(views);
    PyBuffer_Release(&code);
    PyBuffer_Release(&exact);
    return result;
}

static PyObject *cosines(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer query, rows = {0}, slots = {0}, view = {0};
    PyObject *result = NULL;
    double *sums = NULL;
    if (expect(given, 3)) return NULL;
    if (open_view(arguments[0], &QUERY_VECTOR, &query) || open_view(arguments[1], &ROW_VECTORS, &rows) ||
        open_view(arguments[2], &WANTED, &slots))
        goto done;
    if (rows.shape[1] != query.shape[0] || query.shape[0] == 0) {
        PyErr_SetString(PyExc_ValueError, "rows and query differ in width");
        goto done;
    }
    if (slots_within(&slots, rows.shape[0])) goto done;
    size_t padded = 1;
    while (padded < (size_t)query.shape[0]) padded *= 2;
    sums = PyMem_Calloc(padded, sizeof *sums);
    if (sums == NULL) {
        fail(NO_MEMORY);
        goto done;
    }
    State *state = PyModule_GetState(module);
    result = PyObject_CallFunction(state->empty, "nO", slots.shape[0], state->float64);
    if (result == NULL) goto done;
    if (open_view(result, &RESULT, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    BEGIN_WORK(24 * slots.shape[0])
    cosines_of(query.buf, rows.buf, (size_t)query.shape[0], slots.buf, (uint64_t)slots.shape[0], sums, padded, view.buf);
    END_WORK
done:
    PyMem_Free(sums);
    PyBuffer_Release(&view);
    PyBuffer_Release(&slots);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&query);
    return result;
}

/* ---- Candidates: some hundreds of keys and scores, for which numpy would let go of the GIL at every step. ---- */

static const Shape KEYS = {"keys must be a contiguous vector of int64", SIGNED_LETTERS, 8, 1, 0};
static const Shape VALUES = {"scores must be a contiguous vector of float64", FLOAT_LETTERS, 8, 1, 0};

typedef struct {
    double score;
    int64_t key;
    uint32_t place, slot;
} Candidate;

/* Falling score, then rising key; what is no number comes last. */
static int by_score(const void *first, const void *second)
{
    const Candidate *a = first, *b = second;
    int lost = isnan(a->score) - isnan(b->score);
    if (lost) return lost;
    if (a->score > b->score) return -1;
    if (a->score < b->score) return 1;
    return (a->key > b->key) - (a->key < b->key);
}

static int by_key(const void *first, const void *second)
{
    int64_t a = *(const int64_t *)first, b = *(const int64_t *)second;
    return (a > b) - (a < b);
}

/* Raise ValueError for a key that is there twice, as a damaged file may have it. */
static int check_distinct(const Candidate *found, size_t count)
{
    int64_t *keys = PyMem_Malloc((count ? count : 1) * sizeof *keys);
    if (keys == NULL) return PyErr_NoMemory(), -1;
    int rising = 1;
    for (size_t i = 0; i < count; i++) {
        keys[i] = found[i].key;
        rising &= i == 0 || keys[i - 1] < keys[i];
    }
    if (!rising) qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 1; i < count && !rising; i++)
        if (keys[i - 1] == keys[i]) {
            PyErr_SetString(PyExc_ValueError, "a ranking may not hold a key twice");
            break;
        }
    PyMem_Free(keys);
    return PyErr_Occurred() ? -1 : 0;
}

/* Order candidates and give (keys, scores) of the first, with `spots` their parts and slots as well. */
static PyObject *ordered(PyObject *module, Candidate *found, size_t count, size_t most, int spots)
{
    State *state = PyModule_GetState(module);
    PyObject *kinds[4] = {state->int64, state->float64, state->uint32, state->uint32}, *made[4] = {0}, *result = NULL;
    Py_buffer views[4] = {{0}, {0}, {0}, {0}};
    int arrays = spots ? 4 : 2, failed = check_distinct(found, count);
    size_t kept = most < count ? most : count;
    if (!failed) qsort(found, count, sizeof *found, by_score);
    for (int i = 0; i < arrays && !failed; i++) failed = open_result(module, kinds[i], (Py_ssize_t)kept, &made[i], &views[i]);
    if (!failed) {
        for (size_t i = 0; i < kept; i++) {
            ((int64_t *)views[0].buf)[i] = found[i].key;
            ((double *)views[1].buf)[i] = found[i].score;
            if (!spots) continue;
            ((uint32_t *)views[2].buf)[i] = found[i].place;
            ((uint32_t *)views[3].buf)[i] = found[i].slot;
        }
        result = spots ? PyTuple_Pack(4, made[0], made[1], made[2], made[3]) : PyTuple_Pack(2, made[0], made[1]);
    }
    for (int i = 0; i < 4; i++) {
        PyBuffer_Release(&views[i]);
        Py_XDECREF(made[i]);
    }
    return result;
}

enum { FOUND_ARRAYS = 3 };

static const Shape *const FOUND_SHAPES[FOUND_ARRAYS] = {&KEYS, &SLOTS, &VALUES};

/* Add what was found in one segment, given as (keys of all slots, slots, scores). */
static int add_found(PyObject *part, uint32_t place, Candidate **found, size_t *count)
{
    Py_buffer views[FOUND_ARRAYS];
    memset(views, 0, sizeof views);
    int failed = open_arrays(part, FOUND_SHAPES, FOUND_ARRAYS, 0, views) ||
                 same_length(&views[2], views[1].shape[0], "scores has the wrong length") ||
                 slots_within(&views[1], views[0].shape[0]);
    if (!failed) {
        size_t more = (size_t)views[1].shape[0];
        Candidate *grown = PyMem_Realloc(*found, (*count + more + 1) * sizeof *grown);
        if (grown == NULL) failed = (PyErr_NoMemory(), 1);
        else *found = grown;
        const int64_t *keys = views[0].buf;
        const uint32_t *slots = views[1].buf;
        const double *scores = views[2].buf;
        for (size_t i = 0; i < more && !failed; i++) {
            if (!isfinite(scores[i])) {
                PyErr_SetString(PyExc_ValueError, "a score is not a number");
                failed = 1;
            }
            (*found)[(*count)++] = (Candidate){scores[i], keys[slots[i]], place, slots[i]};
        }
    }
    for (int i = 0; i < FOUND_ARRAYS; i++) PyBuffer_Release(&views[i]);
    return failed ? -1 : 0;
}

static PyObject *order_found(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Candidate *found = NULL;
    size_t count = 0, k;
    PyObject *result = NULL;
    if (expect(given, 2) || read_k(arguments[1], &k)) return NULL;
    Py_ssize_t parts = PyTuple_Check(arguments[0]) ? PyTuple_Size(arguments[0]) : 0;
    int failed = 0;
    for (Py_ssize_t i = 0; i < parts && !failed; i++)
        failed = add_found(PyTuple_GetItem(arguments[0], i), (uint32_t)i, &found, &count);
    if (!failed) result = ordered(module, found, count, k, 1);
    PyMem_Free(found);
    return result;
}

/* One segment of a question by BM25: its postings and norms, who may be found, and the keys of its slots. */
typedef struct {
    Question question;
    Py_buffer allowed, keys;
    uint32_t first; /* slots before this segment's */
} Asked;

enum { ASKED_ITEMS = 7 };

/* Open one segment, given as (slots, frequencies, starts, ends, norms, allowed, keys). */
static int asked_open(PyObject *part, PyObject *weights, PyObject *k1, Asked *own)
{
    if (!PyTuple_Check(part) || PyTuple_Size(part) != ASKED_ITEMS) {
        PyErr_SetString(PyExc_TypeError, "a part is a tuple of seven");
        return -1;
    }
    PyObject *arguments[ASKED_ITEMS];
    for (Py_ssize_t i = 0; i < 4; i++) arguments[i] = PyTuple_GetItem(part, i);
    arguments[4] = weights, arguments[5] = PyTuple_GetItem(part, 4), arguments[6] = k1;
    if (question_open(&own->question, arguments)) return -1;
    Py_ssize_t count = own->question.norms.shape[0];
    return open_allowed(PyTuple_GetItem(part, 5), count, &own->allowed) ||
                   open_view(PyTuple_GetItem(part, 6), &KEYS, &own->keys)
               ? -1
               : same_length(&own->keys, count, "keys has the wrong length");
}

/* The best of all segments share one threshold; their slots count over all of them. */
static enum failure best_of_all(const Asked *asked, Py_ssize_t parts, size_t k, size_t rows, Best *best)
{
    enum failure failure = best_init(best, k, rows, DBL_TRUE_MIN); /* what is above zero */
    for (Py_ssize_t i = 0; i < parts && !failure; i++) {
        const Question *question = &asked[i].question;
        best->base = asked[i].first;
        failure = score_all(question->terms, question->count, question->norms.buf, (size_t)question->norms.shape[0],
                            question->most, asked[i].allowed.buf, best);
    }
    if (!failure) best_cut(best);
    return failure;
}

static PyObject *ranked_of(PyObject *module, const Asked *asked, Py_ssize_t parts, size_t k, const Best *best)
{
    Candidate *found = PyMem_Malloc((best->size + 1) * sizeof *found);
    PyObject *result = NULL;
    if (found == NULL) return PyErr_NoMemory();
    size_t at = 0;
    for (; at < best->size && isfinite(best->scores[at]); at++) {
        Py_ssize_t part = parts - 1;
        while (part > 0 && best->slots[at] < asked[part].first) part--;
        uint32_t slot = best->slots[at] - asked[part].first;
        int64_t key = ((const int64_t *)asked[part].keys.buf)[slot];
        found[at] = (Candidate){best->scores[at], key, (uint32_t)part, slot};
    }
    if (at < best->size) PyErr_SetString(PyExc_ValueError, "a score is not a number");
    else result = ordered(module, found, best->size, k, 1);
    PyMem_Free(found);
    return result;
}

static PyObject *bm25_top(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Best best = {0};
    size_t k, rows = 0;
    uint64_t postings = 0;
    PyObject *result = NULL;
    if (expect(given, 4) || read_k(arguments[3], &k)) return NULL;
    Py_ssize_t parts = PyTuple_Check(arguments[0]) ? PyTuple_Size(arguments[0]) : 0, opened = 0;
    Asked *asked = PyMem_Calloc((size_t)parts + 1, sizeof *asked);
    if (asked == NULL) return PyErr_NoMemory();
    for (; opened < parts; opened++) {
        Asked *own = &asked[opened];
        if (asked_open(PyTuple_GetItem(arguments[0], opened), arguments[1], arguments[2], own)) goto done;
        own->first = (uint32_t)rows;
        rows += (size_t)own->question.norms.shape[0];
        postings += postings_of(&own->question);
        if (fits_slots((Py_ssize_t)rows)) goto done;
    }
    enum failure failure;
    BEGIN_WORK(postings)
    failure = best_of_all(asked, parts, k, rows, &best);
    END_WORK
    result = failure ? fail(failure) : ranked_of(module, asked, parts, k, &best);
done:
    for (Py_ssize_t i = 0; i < parts && i <= opened; i++) {
        question_close(&asked[i].question);
        PyBuffer_Release(&asked[i].allowed);
        PyBuffer_Release(&asked[i].keys);
    }
    PyMem_Free(asked);
    best_free(&best);
    return result;
}

static PyObject *falling(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer keys, scores = {0};
    Candidate *found = NULL;
    PyObject *result = NULL;
    if (expect(given, 2)) return NULL;
    if (open_view(arguments[0], &KEYS, &keys)) return NULL;
    if (open_view(arguments[1], &VALUES, &scores) || same_length(&scores, keys.shape[0], "scores has the wrong length"))
        goto done;
    size_t count = (size_t)keys.shape[0];
    found = PyMem_Malloc((count + 1) * sizeof *found);
    if (found == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        found[i] = (Candidate){((const double *)scores.buf)[i], ((const int64_t *)keys.buf)[i], 0, 0};
    result = ordered(module, found, count, count, 0);
done:
    PyMem_Free(found);
    PyBuffer_Release(&scores);
    PyBuffer_Release(&keys);
    return result;
}

static PyObject *union_of(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    int64_t *keys = NULL;
    size_t count = 0, kept = 0;
    PyObject *result = NULL;
    if (expect(given, 1)) return NULL;
    Py_ssize_t some = PyTuple_Check(arguments[0]) ? PyTuple_Size(arguments[0]) : 0;
    for (Py_ssize_t i = 0; i < some; i++) {
        Py_buffer view;
        if (open_view(PyTuple_GetItem(arguments[0], i), &KEYS, &view)) goto done;
        int64_t *grown = PyMem_Realloc(keys, (count + (size_t)view.shape[0] + 1) * sizeof *grown);
        if (grown != NULL) {
            keys = grown;
            memcpy(keys + count, view.buf, (size_t)view.len);
            count += (size_t)view.shape[0];
        }
        PyBuffer_Release(&view);
        if (grown == NULL) {
            PyErr_NoMemory();
            goto done;
        }
    }
    if (count) qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1]) keys[kept++] = keys[i];
    State *state = PyModule_GetState(module);
    result = new_array(module, state->int64, keys, kept, sizeof *keys);
done:
    PyMem_Free(keys);
    return result;
}

/* Where a key stands among keys that rise; `count` for one that is not there. */
static size_t stands_at(const int64_t *keys, size_t count, int64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low < count && keys[low] == key ? low : count;
}

static PyObject *filled(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer views[3], view = {0};
    PyObject *scores = NULL, *result = NULL;
    int64_t *missing = NULL;
    memset(views, 0, sizeof views);
    if (expect(given, 3)) return NULL;
    if (open_view(arguments[0], &KEYS, &views[0]) || open_view(arguments[1], &KEYS, &views[1]) ||
        open_view(arguments[2], &VALUES, &views[2]) ||
        same_length(&views[2], views[1].shape[0], "scores has the wrong length"))
        goto done;
    size_t count = (size_t)views[0].shape[0], lacking = 0;
    const int64_t *keys = views[0].buf, *listed = views[1].buf;
    State *state = PyModule_GetState(module);
    missing = PyMem_Calloc(2 * count + 1, sizeof *missing);
    if (missing == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (open_result(module, state->float64, (Py_ssize_t)count, &scores, &view)) goto done;
    memset(view.buf, 0, (size_t)view.len);
    for (Py_ssize_t i = 0; i < views[1].shape[0]; i++) {
        size_t at = stands_at(keys, count, listed[i]);
        if (at == count) continue;
        ((double *)view.buf)[at] = ((const double *)views[2].buf)[i];
        missing[at] = 1;
    }
    int64_t *wanted = missing + count; /* places go over the marks, behind what is read */
    for (size_t i = 0; i < count; i++) {
        if (missing[i]) continue;
        wanted[lacking] = keys[i];
        missing[lacking++] = (int64_t)i;
    }
    PyObject *both = pair(new_array(module, state->int64, missing, lacking, sizeof *missing),
                          new_array(module, state->int64, wanted, lacking, sizeof *wanted));
    result = both == NULL ? NULL : PyTuple_Pack(3, scores, PyTuple_GetItem(both, 0), PyTuple_GetItem(both, 1));
    Py_XDECREF(both);
done:
    PyMem_Free(missing);
    PyBuffer_Release(&view);
    Py_XDECREF(scores);
    for (int i = 0; i < 3; i++) PyBuffer_Release(&views[i]);
    return result;
}

static PyObject *scores_of(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Py_buffer views[3], view = {0};
    PyObject *result = NULL;
    memset(views, 0, sizeof views);
    if (expect(given, 3)) return NULL;
    if (open_view(arguments[0], &KEYS, &views[0]) || open_view(arguments[1], &VALUES, &views[1]) ||
        open_view(arguments[2], &KEYS, &views[2]) ||
        same_length(&views[1], views[0].shape[0], "scores has the wrong length"))
        goto done;
    State *state = PyModule_GetState(module);
    size_t count = (size_t)views[0].shape[0];
    if (open_result(module, state->float64, views[2].shape[0], &result, &view)) {
        Py_CLEAR(result);
        goto done;
    }
    for (Py_ssize_t i = 0; i < views[2].shape[0]; i++) {
        size_t at = stands_at(views[0].buf, count, ((const int64_t *)views[2].buf)[i]);
        if (at == count) {
            PyErr_SetString(PyExc_ValueError, "a key has no score");
            Py_CLEAR(result);
            goto done;
        }
        ((double *)view.buf)[i] = ((const double *)views[1].buf)[at];
    }
done:
    PyBuffer_Release(&view);
    for (int i = 0; i < 3; i++) PyBuffer_Release(&views[i]);
    return result;
}

/* Keys by their hash, each with the segment and the slot where it was found. */
typedef struct {
    Candidate *held; /* `score` is above 0 where one is held */
    size_t mask;
} Spots;

static Candidate *spot_of(const Spots *spots, int64_t key)
{
    size_t at = (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & spots->mask;
    while (spots->held[at].score > 0.0 && spots->held[at].key != key) at = (at + 1) & spots->mask;
    return &spots->held[at];
}

static const Shape *const SPOT_SHAPES[FOUND_ARRAYS] = {&KEYS, &PLACES, &SLOTS};

static int add_spots(PyObject *one, Spots *spots, size_t *count)
{
    Py_buffer views[FOUND_ARRAYS];
    memset(views, 0, sizeof views);
    int failed = open_arrays(one, SPOT_SHAPES, FOUND_ARRAYS, 0, views) ||
                 same_length(&views[1], views[0].shape[0], "places has the wrong length") ||
                 same_length(&views[2], views[0].shape[0], "slots has the wrong length");
    if (!failed && spots->held == NULL) *count += (size_t)views[0].shape[0];
    for (Py_ssize_t i = 0; !failed && spots->held != NULL && i < views[0].shape[0]; i++) {
        int64_t key = ((const int64_t *)views[0].buf)[i];
        Candidate *at = spot_of(spots, key);
        *at = (Candidate){1.0, key, ((const uint32_t *)views[1].buf)[i], ((const uint32_t *)views[2].buf)[i]};
    }
    for (int i = 0; i < FOUND_ARRAYS; i++) PyBuffer_Release(&views[i]);
    return failed ? -1 : 0;
}

/* Which of the wanted keys lie in one segment, as (segment, their places among the wanted, their slots); or nothing. */
static int list_spots(PyObject *module, PyObject *list, uint32_t place, Candidate *const *at, size_t count, int64_t *places,
                      uint32_t *slots)
{
    State *state = PyModule_GetState(module);
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        if (at[i]->place != place) continue;
        places[held] = (int64_t)i;
        slots[held++] = at[i]->slot;
    }
    if (!held) return 0;
    PyObject *both = pair(new_array(module, state->int64, places, held, sizeof *places),
                          new_array(module, state->uint32, slots, held, sizeof *slots));
    if (both == NULL) return -1;
    PyObject *one = Py_BuildValue("kOO", (unsigned long)place, PyTuple_GetItem(both, 0), PyTuple_GetItem(both, 1));
    Py_DECREF(both);
    int failed = one == NULL || PyList_Append(list, one);
    Py_XDECREF(one);
    return failed ? -1 : 0;
}

static PyObject *locate(PyObject *module, PyObject *const *arguments, Py_ssize_t given)
{
    Spots spots = {NULL, 1};
    Py_buffer wanted;
    size_t noted = 0;
    Candidate **at = NULL;
    int64_t *places = NULL;
    PyObject *result = NULL;
    if (expect(given, 3)) return NULL;
    Py_ssize_t searches = PyTuple_Check(arguments[0]) ? PyTuple_Size(arguments[0]) : 0;
    Py_ssize_t parts = PyNumber_AsSsize_t(arguments[2], NULL);
    if (open_view(arguments[1], &KEYS, &wanted)) return NULL;
    size_t count = (size_t)wanted.shape[0];
    for (Py_ssize_t i = 0; i < searches; i++)
        if (add_spots(PyTuple_GetItem(arguments[0], i), &spots, &noted)) goto done;
    while (spots.mask < 2 * noted) spots.mask *= 2;
    spots.held = PyMem_Calloc(spots.mask, sizeof *spots.held);
    spots.mask--;
    at = PyMem_Malloc((count + 1) * sizeof *at);
    places = PyMem_Malloc((count + 1) * (sizeof *places + sizeof(uint32_t)));
    if (spots.held == NULL || at == NULL || places == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < searches && noted; i++)
        if (add_spots(PyTuple_GetItem(arguments[0], i), &spots, &noted)) goto done;
    for (size_t i = 0; i < count; i++) {
        at[i] = noted ? spot_of(&spots, ((const int64_t *)wanted.buf)[i]) : NULL;
        if (at[i] == NULL || !(at[i]->score > 0.0)) {
            result = Py_NewRef(Py_None);
            goto done;
        }
    }
    result = PyList_New(0);
    for (Py_ssize_t i = 0; i < parts && result != NULL; i++)
        if (list_spots(module, result, (uint32_t)i, at, count, places, (uint32_t *)(places + count + 1))) Py_CLEAR(result);
done:
    PyMem_Free(places);
    PyMem_Free(at);
    PyMem_Free(spots.held);
    PyBuffer_Release(&wanted);
    return result;
}

static PyMethodDef METHODS[] = {
    {"bm25_top", (PyCFunction)(void (*)(void))bm25_top, METH_FASTCALL, NULL},
    {"bm25_at", (PyCFunction)(void (*)(void))bm25_at, METH_FASTCALL, NULL},
    {"occurrences", (PyCFunction)(void (*)(void))occurrences, METH_FASTCALL, NULL},
    {"count_terms", (PyCFunction)(void (*)(void))count_terms, METH_FASTCALL, NULL},
    {"stretches", (PyCFunction)(void (*)(void))stretches, METH_FASTCALL, NULL},
    {"convex_values", (PyCFunction)(void (*)(void))convex_values, METH_FASTCALL, NULL},
    {"feedback_terms", (PyCFunction)(void (*)(void))feedback_terms, METH_FASTCALL, NULL},
    {"idfs", (PyCFunction)(void (*)(void))idfs, METH_FASTCALL, NULL},
    {"turn_over", (PyCFunction)(void (*)(void))turn_over, METH_FASTCALL, NULL},
    {"find_texts", (PyCFunction)(void (*)(void))find_texts, METH_FASTCALL, NULL},
    {"phrase_marks", (PyCFunction)(void (*)(void))phrase_marks, METH_FASTCALL, NULL},
    {"letter_kinds", (PyCFunction)(void (*)(void))letter_kinds, METH_FASTCALL, NULL},
    {"edit_distances", (PyCFunction)(void (*)(void))edit_distances, METH_FASTCALL, NULL},
    {"count_words", (PyCFunction)(void (*)(void))count_words, METH_FASTCALL, NULL},
    {"mark", (PyCFunction)(void (*)(void))mark, METH_FASTCALL, NULL},
    {"top_scores", (PyCFunction)(void (*)(void))top_scores, METH_FASTCALL, NULL},
    {"dots", (PyCFunction)(void (*)(void))dots, METH_FASTCALL, NULL},
    {"coded_query", (PyCFunction)(void (*)(void))coded_query, METH_FASTCALL, NULL},
    {"nearest_rows", (PyCFunction)(void (*)(void))nearest_rows, METH_FASTCALL, NULL},
    {"cosines", (PyCFunction)(void (*)(void))cosines, METH_FASTCALL, NULL},
    {"order_found", (PyCFunction)(void (*)(void))order_found, METH_FASTCALL, NULL},
    {"falling", (PyCFunction)(void (*)(void))falling, METH_FASTCALL, NULL},
    {"union_of", (PyCFunction)(void (*)(void))union_of, METH_FASTCALL, NULL},
    {"filled", (PyCFunction)(void (*)(void))filled, METH_FASTCALL, NULL},
    {"scores_of", (PyCFunction)(void (*)(void))scores_of, METH_FASTCALL, NULL},
    {"locate", (PyCFunction)(void (*)(void))locate, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) return -1;
    state->empty = PyObject_GetAttrString(numpy, "empty");
    state->uint8 = PyObject_GetAttrString(numpy, "uint8");
    state->uint16 = PyObject_GetAttrString(numpy, "uint16");
    state->uint32 = PyObject_GetAttrString(numpy, "uint32");
    state->uint64 = PyObject_GetAttrString(numpy, "uint64");
    state->int8 = PyObject_GetAttrString(numpy, "int8");
    state->int32 = PyObject_GetAttrString(numpy, "int32");
    state->int64 = PyObject_GetAttrString(numpy, "int64");
    state->float32 = PyObject_GetAttrString(numpy, "float32");
    state->float64 = PyObject_GetAttrString(numpy, "float64");
    Py_DECREF(numpy);
    return state->empty && state->uint8 && state->uint16 && state->uint32 && state->uint64 && state->int8 && state->int32 && state->int64 &&
                   state->float32 && state->float64
               ? 0 : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->empty);
    Py_VISIT(state->uint8);
    Py_VISIT(state->uint16);
    Py_VISIT(state->uint32);
    Py_VISIT(state->uint64);
    Py_VISIT(state->int8);
    Py_VISIT(state->int32);
    Py_VISIT(state->int64);
    Py_VISIT(state->float32);
    Py_VISIT(state->float64);
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->empty);
    Py_CLEAR(state->uint8);
    Py_CLEAR(state->uint16);
    Py_CLEAR(state->uint32);
    Py_CLEAR(state->uint64);
    Py_CLEAR(state->int8);
    Py_CLEAR(state->int32);
    Py_CLEAR(state->int64);
    Py_CLEAR(state->float32);
    Py_CLEAR(state->float64);
    return 0;
}

static PyModuleDef_Slot MODULE_SLOTS[] = {
    {Py_mod_exec, (void *)module_exec},
    {0, NULL},
};

static struct PyModuleDef MODULE = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "twofold._kernels",
    .m_doc = "The hot loops; twofold._kernels_numpy describes them.",
    .m_size = sizeof(State),
    .m_methods = METHODS,
    .m_slots = MODULE_SLOTS,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__kernels(void)
{
    return PyModuleDef_Init(&MODULE);
}
