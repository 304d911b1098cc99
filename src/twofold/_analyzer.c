/* The analyzer's loop over a text: runs of non-space, each looked up among those met before, ASCII ones analyzed here.
 *
 * `twofold.text.analyzer` describes what comes out and is the oracle: both give the same terms at the same places, in the
 * same order. What is not ASCII, and each different word's stem, is asked of it once and then remembered. So a text
 * costs a look-up a word, and the first sight of a word one call.
 *
 * What holds throughout: stable ABI of Python 3.11; the GIL is held; every number that becomes an address is a place in
 * the text that was measured here. A call to Python may empty the tables, so nothing of theirs is held across one.
 * The tables are bounded in entries, in bytes of a key and in the steps of a search.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 131072,         /* entries of a table, about 30 MB with all that they hold; from a full one rare ones go */
    FIRST_ROOM = 1024,     /* slots of a new table, a power of two; it doubles when half of them are taken */
    LONGEST_KEY = 27,      /* bytes; longer runs are codes and addresses that hardly come again */
    STEPS = 64,            /* of a search: what hashes badly on purpose is analyzed each time instead */
    LONGEST_WORD = 255,
    LONGEST_CODE = 128,
    LONGEST_ACRONYM = 10,
    TOGETHER = 32,         /* runs that are looked up together */
    AHEAD = 8,             /* runs whose terms are fetched ahead */
};

/* twofold.text.tokenizer.Kind, by the same numbers */
enum { WORD, STOP, ACRONYM, COMPOUND, CODE, PAIR, KINDS };

/* One term, shared by the runs that hold it. `stamp` and `count` are of the text that is being counted. */
typedef struct {
    PyObject *text;
    uint64_t stamp, vocabulary; /* `vocabulary`: which one `number` is of, 0 for none */
    uint32_t references, count, number;
    int shared; /* no other record is of this term, until the tables are emptied whole */
} Term;

/* What a run comes to when it is counted: its words' terms, then its exact forms. */
typedef struct {
    uint32_t references, words, terms;
    uint32_t met;          /* again, since rare ones went last */
    PyObject *tail, *head; /* of a pair; NULL: none */
    Term *held[];
} Entry;

typedef struct {
    uint32_t hash;
    uint8_t size;
    char key[LONGEST_KEY];
    void *value; /* NULL: free */
} Slot;

typedef struct {
    Slot *slots; /* made when first filled */
    uint32_t used, room;
    void (*drop)(void *);
} Table;

typedef struct {
    PyObject_HEAD
    PyObject *term_of;   /* (folded word) -> term; "=" in front of a stop word */
    PyObject *count_run; /* (run) -> (list of words, list of exact forms, tail, head) */
    PyObject *place_run; /* (run) -> (pieces, tail, tail's start, head, head's end, links) */
    PyObject *token;     /* (term, start, end, kind) -> token */
    PyObject *kinds[KINDS];
    Table words;     /* folded word -> term */
    Table records;   /* term -> Term; emptied with `counted`, never alone */
    Table counted;   /* run -> Entry */
    Table placed;    /* run -> tuple */
    uint64_t stamp, emptied;
    int splits, humps;
} Runs;

/* ---- tables ---- */

static void drop_object(void *value) { Py_DECREF((PyObject *)value); }

static void drop_term(void *value)
{
    Term *term = value;
    if (--term->references) return;
    Py_DECREF(term->text);
    free(term);
}

static void drop_entry(void *value)
{
    Entry *entry = value;
    if (--entry->references) return;
    for (uint32_t index = 0; index < entry->terms; index++) drop_term(entry->held[index]);
    Py_XDECREF(entry->tail);
    Py_XDECREF(entry->head);
    free(entry);
}

/* Eight bytes a step; what collides on purpose is bounded by STEPS. */
static uint32_t hash_of(const char *key, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u ^ size;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t eight = 0;
        memcpy(&eight, key + at, size - at < sizeof eight ? size - at : sizeof eight);
        hash = (hash ^ eight) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash ^ (hash >> 32));
}

/* Memory that is about to be read: words of a text lie all over the tables, so most look-ups would wait for it. */
static void fetch(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

/* The slot of a key, or a free one to put it in, or NULL after too many steps. */
static Slot *find(const Table *table, uint32_t hash, const char *key, size_t size)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        Slot *slot = &table->slots[(hash + step) & (table->room - 1)];
        if (slot->value == NULL) return slot;
        if (slot->hash == hash && slot->size == size && memcmp(slot->key, key, size) == 0) return slot;
    }
    return NULL;
}

static void empty(Table *table)
{
    Table old = *table;
    *table = (Table){.drop = old.drop}; /* first: dropping a value may run anything */
    for (size_t at = 0; at < old.room; at++)
        if (old.slots[at].value) old.drop(old.slots[at].value);
    free(old.slots);
}

/* Drops what does not stay. `stays` runs no Python; dropping may, and then the table is what it will be. 0 without memory. */
static int sweep(Table *table, int (*stays)(void *))
{
    Table old = *table, kept = {.room = old.room, .drop = old.drop};
    kept.slots = calloc(kept.room ? kept.room : 1, sizeof(Slot));
    if (kept.slots == NULL) return 0;
    for (size_t at = 0; at < old.room; at++) {
        Slot *before = &old.slots[at];
        if (before->value == NULL || !stays(before->value)) continue;
        Slot *slot = find(&kept, before->hash, before->key, before->size);
        if (slot == NULL) continue;
        *slot = *before;
        before->value = NULL;
        kept.used++;
    }
    *table = kept;
    for (size_t at = 0; at < old.room; at++)
        if (old.slots[at].value) old.drop(old.slots[at].value);
    free(old.slots);
    return 1;
}

/* Makes room for one entry more; 0 without memory, since remembering is a matter of speed. */
static int make_room(Table *table)
{
    if (2 * table->used < table->room) return 1;
    Table larger = {.used = table->used, .room = table->room ? 2 * table->room : FIRST_ROOM, .drop = table->drop};
    larger.slots = calloc(larger.room, sizeof(Slot));
    if (larger.slots == NULL) return 0;
    for (size_t at = 0; at < table->room; at++) {
        const Slot *old = &table->slots[at];
        Slot *slot = old->value ? find(&larger, old->hash, old->key, old->size) : NULL;
        if (slot != NULL) *slot = *old;
        else if (old->value) larger.used--, table->drop(old->value);
    }
    free(table->slots);
    *table = larger;
    return 1;
}

static void *get(const Table *table, uint32_t hash, const char *key, size_t size)
{
    const Slot *slot = table->slots ? find(table, hash, key, size) : NULL;
    return slot ? slot->value : NULL;
}

/* Keeps a value under a key that is not there, and gives 1; 0 where it cannot be kept. The caller gives a reference. */
static int put(Table *table, uint32_t hash, const char *key, size_t size, void *value)
{
    if (!make_room(table)) return 0;
    Slot *slot = find(table, hash, key, size);
    if (slot == NULL || slot->value != NULL) return 0;
    *slot = (Slot){.hash = hash, .value = value, .size = (uint8_t)size};
    memcpy(slot->key, key, size);
    table->used++;
    return 1;
}

/* ---- characters of ASCII ---- */

static int is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
static int is_upper(unsigned char c) { return c >= 'A' && c <= 'Z'; }
static int is_lower(unsigned char c) { return c >= 'a' && c <= 'z'; }
static int is_letter(unsigned char c) { return is_upper(c) || is_lower(c); }
static int is_alnum(unsigned char c) { return is_letter(c) || is_digit(c); }
static int is_word(unsigned char c) { return is_alnum(c) || c == '_'; }
static char lowered(char c) { return is_upper((unsigned char)c) ? (char)(c + 32) : c; }

/* A run, and looks at it that may go beyond its ends, where there is nothing. */
typedef struct {
    const unsigned char *text;
    size_t size;
} Run;

static unsigned char at(Run run, size_t place) { return place < run.size ? run.text[place] : 0; }
static unsigned char before(Run run, size_t place) { return place ? run.text[place - 1] : 0; }

static size_t past_alnum(Run run, size_t place)
{
    while (is_alnum(at(run, place))) place++;
    return place;
}

/* ---- where codes end: each returns 0 where no code ends, as `_CODES` of the tokenizer, branch by branch ---- */

static size_t option_at(Run run, size_t start)
{
    if (at(run, start) != '-' || at(run, start + 1) != '-' || is_word(before(run, start)) || before(run, start) == '-')
        return 0;
    size_t end = past_alnum(run, start + 2);
    if (end == start + 2) return 0;
    while (at(run, end) == '-' || at(run, end) == '_') {
        size_t next = past_alnum(run, end + 1);
        if (next == end + 1) break;
        end = next;
    }
    return end;
}

static size_t dotted_at(Run run, size_t start)
{
    if (at(run, start) != '.' || is_word(before(run, start)) || before(run, start) == '.') return 0;
    size_t end = start + 1;
    while (is_letter(at(run, end))) end++;
    return end == start + 1 || is_word(at(run, end)) || at(run, end) == '.' ? 0 : end;
}

/* C++, C#, C++11: what follows the name. */
static size_t plus_at(Run run, size_t name)
{
    size_t end;
    if (at(run, name) == '+' && at(run, name + 1) == '+') end = name + 2;
    else if (at(run, name) == '#') end = name + 1;
    else return 0;
    if (at(run, end) == '+' || at(run, end) == '#') return 0;
    while (is_digit(at(run, end))) end++;
    return is_word(at(run, end)) ? 0 : end;
}

/* Past one separator, where a part follows it. */
static size_t past_separator(Run run, size_t place)
{
    unsigned char c = at(run, place);
    size_t next = place + 1;
    if (c == '_') {
        while (at(run, next) == '_') next++;
        return is_alnum(at(run, next)) ? next : 0;
    }
    if (c == '-' || c == '.' || c == '@' || c == '&') return is_alnum(at(run, next)) ? next : 0;
    if (c == ',' || c == ':') return is_digit(before(run, place)) && is_digit(at(run, next)) ? next : 0;
    return 0;
}

static size_t name_at(Run run, size_t start)
{
    if (is_word(before(run, start))) return 0;
    size_t name = start;
    while (at(run, name) == '_') name++;
    size_t end = past_alnum(run, name);
    if (end == name) return 0;
    size_t plus = plus_at(run, end), next, first = end;
    if (plus) return plus;
    while ((next = past_separator(run, end))) end = past_alnum(run, next);
    size_t bars = end;
    while (at(run, bars) == '_') bars++;
    return bars > first ? bars : 0;
}

static size_t short_part(Run run, size_t start)
{
    size_t end = start;
    while (end < start + 4 && is_alnum(at(run, end))) end++;
    return end;
}

static size_t slashed_at(Run run, size_t start)
{
    if (is_word(before(run, start)) || before(run, start) == '/') return 0;
    size_t end = short_part(run, start), parts = 0;
    if (end == start) return 0;
    while (at(run, end) == '/') {
        size_t next = short_part(run, end + 1);
        if (next == end + 1) break;
        end = next;
        parts++;
    }
    unsigned char c = at(run, end);
    return !parts || is_word(c) || c == '/' || c == '.' || c == '-' ? 0 : end;
}

static size_t code_at(Run run, size_t start)
{
    size_t end = option_at(run, start);
    if (!end) end = dotted_at(run, start);
    if (!end) end = name_at(run, start);
    return end ? end : slashed_at(run, start);
}

/* ---- words ---- */

typedef struct {
    size_t start, end;
    size_t letters; /* characters without the full stops of initials */
    int initials;
} Word;

/* Past initials such as U.S.A, or 0. */
static size_t initials_at(Run run, size_t start)
{
    if (!is_letter(at(run, start)) || (start >= 2 && run.text[start - 1] == '.' && is_letter(run.text[start - 2])))
        return 0;
    size_t end = start + 1;
    while (at(run, end) == '.' && is_letter(at(run, end + 1))) end += 2;
    return end == start + 1 || is_alnum(at(run, end)) ? 0 : end;
}

static int next_word(Run run, size_t place, Word *word)
{
    for (; place < run.size; place++) {
        if (!is_alnum(run.text[place])) continue;
        size_t end = initials_at(run, place);
        *word = (Word){place, end, (end - place + 1) / 2, end != 0};
        if (end) return 1;
        end = past_alnum(run, place);
        while (at(run, end) == '\'' && is_alnum(at(run, end + 1))) end = past_alnum(run, end + 1);
        word->end = end;
        word->letters = end - place;
        return 1;
    }
    return 0;
}

static char letter_of(Run run, const Word *word, size_t index)
{
    return (char)run.text[word->start + (word->initials ? 2 * index : index)];
}

static int is_acronym(Run run, const Word *word)
{
    if (word->letters < 2 || word->letters > LONGEST_ACRONYM) return 0;
    size_t letters = 0;
    for (size_t index = 0; index < word->letters; index++) {
        unsigned char c = (unsigned char)letter_of(run, word, index);
        if (is_lower(c)) return 0;
        letters += is_upper(c);
    }
    return letters > 1;
}

/* ---- what is found: either counted, or placed ---- */

typedef struct {
    Runs *runs;
    PyObject *words, *exact; /* of a run to be counted */
    PyObject *pieces;        /* of a run to be placed: tuples (term, start, end, kind) */
    int stop;                /* whether the word that was added last is a stop word */
} Found;

static int add(Found *found, PyObject *term, int kind, size_t start, size_t end)
{
    if (found->pieces == NULL) return PyList_Append(kind == WORD ? found->words : found->exact, term);
    PyObject *piece = Py_BuildValue("(OnnO)", term, (Py_ssize_t)start, (Py_ssize_t)end, found->runs->kinds[kind]);
    int failed = piece == NULL || PyList_Append(found->pieces, piece);
    Py_XDECREF(piece);
    return failed ? -1 : 0;
}

/* "=" and a text, folded or not; `size` is at most LONGEST_CODE. */
static PyObject *exact_term(const char *text, size_t size, int fold)
{
    char made[LONGEST_CODE + 1];
    made[0] = '=';
    for (size_t index = 0; index < size; index++) made[index + 1] = fold ? lowered(text[index]) : text[index];
    return PyUnicode_FromStringAndSize(made, (Py_ssize_t)size + 1);
}

static int add_exact(Found *found, const char *text, size_t size, int kind, size_t start, size_t end)
{
    PyObject *term = exact_term(text, size, kind != ACRONYM);
    int failed = term == NULL || add(found, term, kind, start, end);
    Py_XDECREF(term);
    return failed ? -1 : 0;
}

/* The term of a folded word, a new reference. */
static PyObject *term_of(Runs *runs, const char *folded, size_t size)
{
    int short_enough = size <= LONGEST_KEY;
    uint32_t hash = short_enough ? hash_of(folded, size) : 0;
    PyObject *term = short_enough ? get(&runs->words, hash, folded, size) : NULL;
    if (term != NULL) {
        Py_INCREF(term);
        return term;
    }
    term = PyObject_CallFunction(runs->term_of, "s#", folded, (Py_ssize_t)size);
    if (term == NULL || !PyUnicode_Check(term)) {
        if (term != NULL) PyErr_SetString(PyExc_TypeError, "a term is a str");
        Py_CLEAR(term);
        return NULL;
    }
    if (runs->words.used >= MOST) empty(&runs->words);
    if (short_enough && put(&runs->words, hash, folded, size, term)) Py_INCREF(term);
    return term;
}

/* 1 for a stop word's term, 0 for another, -1 for an error. */
static int is_stop(PyObject *term)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(term, &size);
    return text == NULL ? -1 : size > 0 && text[0] == '=';
}

/* Letters `first` to before `last` of a word as a word of their own, which begins at `start` in the run. */
static int add_word(Found *found, Run run, const Word *word, size_t first, size_t last, size_t start, size_t end)
{
    char folded[LONGEST_WORD];
    size_t size = 0;
    for (size_t index = first; index < last && size < LONGEST_WORD; index++)
        folded[size++] = lowered(letter_of(run, word, index));
    PyObject *term = term_of(found->runs, folded, size);
    if (term == NULL) return -1;
    found->stop = is_stop(term);
    int failed = found->stop < 0 || add(found, term, found->stop ? STOP : WORD, start, end);
    Py_DECREF(term);
    return failed ? -1 : 0;
}

static int add_parts(Found *found, Run run, const Word *word)
{
    if (!found->runs->splits || word->initials) return add_word(found, run, word, 0, word->letters, word->start, word->end);
    for (size_t first = 0, last; first <= word->letters; first = last + 1) {
        for (last = first; last < word->letters && letter_of(run, word, last) != '\''; last++) {}
        if (add_word(found, run, word, first, last, word->start + first, word->start + last)) return -1;
    }
    return 0;
}

static int hump_at(Run run, const Word *word, size_t index)
{
    unsigned char left = (unsigned char)letter_of(run, word, index - 1), here = (unsigned char)letter_of(run, word, index);
    if (!is_upper(here)) return 0;
    if (is_lower(left) || is_digit(left)) return 1;
    return is_upper(left) && index + 1 < word->letters && is_lower((unsigned char)letter_of(run, word, index + 1));
}

static int add_humps(Found *found, Run run, const Word *word)
{
    size_t first = 0;
    for (size_t index = 1; index < word->letters; index++) {
        if (!hump_at(run, word, index)) continue;
        if (add_word(found, run, word, first, index, word->start + first, word->start + index)) return -1;
        first = index;
    }
    if (!first) return 0;
    return add_word(found, run, word, first, word->letters, word->start + first, word->start + word->letters);
}

static int add_words(Found *found, Run run, Word *last, int *any)
{
    *any = 0;
    for (size_t place = 0; next_word(run, place, last); place = last->end) {
        *any = 1;
        if (add_parts(found, run, last)) return -1;
        int stop = found->stop;
        if (found->runs->humps && !last->initials && add_humps(found, run, last)) return -1;
        found->stop = stop;
    }
    return 0;
}

static int add_acronyms(Found *found, Run run)
{
    Word word;
    for (size_t place = 0; next_word(run, place, &word); place = word.end) {
        if (!is_acronym(run, &word)) continue;
        char text[LONGEST_ACRONYM];
        for (size_t index = 0; index < word.letters; index++) text[index] = letter_of(run, &word, index);
        if (add_exact(found, text, word.letters, ACRONYM, word.start, word.end)) return -1;
    }
    return 0;
}

static int is_compound(Run run, size_t start, size_t end)
{
    if (run.text[start] == '-') return 0;
    size_t letters = 0;
    for (size_t place = start; place < end; place++) {
        unsigned char c = run.text[place];
        if (c == '-' || c == '/') continue;
        if (!is_letter(c)) return 0;
        letters++;
    }
    return letters > 0;
}

static int add_codes(Found *found, Run run)
{
    for (size_t start = 0; start < run.size;) {
        size_t end = code_at(run, start);
        if (!end) {
            start++;
            continue;
        }
        int kind = is_compound(run, start, end) ? COMPOUND : CODE;
        if (end - start <= LONGEST_CODE
            && add_exact(found, (const char *)run.text + start, end - start, kind, start, end)) return -1;
        start = end;
    }
    return 0;
}

/* ---- what a run lends to a pair: `Article` on its left, `370` here ---- */

static PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

/* The folded word that ends the run, which was added last; None where it is not one, or a stop word. */
static PyObject *tail_of(const Found *found, Run run, const Word *word)
{
    size_t size = word->letters;
    if (size < 2 || size > LONGEST_CODE) return none();
    char folded[LONGEST_CODE];
    for (size_t index = 0; index < size; index++) {
        char c = letter_of(run, word, index);
        if (!is_letter((unsigned char)c)) return none();
        folded[index] = lowered(c);
    }
    if (!(word->end == run.size || (word->end + 1 == run.size && run.text[word->end] == '.'))) return none();
    if (found->stop) return none(); /* of letters alone, it was added as one word */
    return PyUnicode_FromStringAndSize(folded, (Py_ssize_t)size);
}

/* The folded number that begins the run; None where no number begins it. */
static PyObject *head_of(Run run, size_t *end)
{
    size_t place = 0;
    while (is_digit(at(run, place))) place++;
    if (!place) return none();
    for (unsigned char c = at(run, place); c == '.' || c == ',' || c == ':' || c == '-'; c = at(run, place)) {
        if (!is_digit(at(run, place + 1))) break;
        for (place++; is_digit(at(run, place)); place++) {}
    }
    if (is_letter(at(run, place)) && !is_word(at(run, place + 1))) place++;
    else if (is_word(at(run, place))) return none();
    if (place > LONGEST_CODE) return none();
    *end = place;
    char folded[LONGEST_CODE];
    for (size_t index = 0; index < place; index++) folded[index] = lowered((char)run.text[index]);
    return PyUnicode_FromStringAndSize(folded, (Py_ssize_t)place);
}

/* ---- one run ---- */

static int analyze(Found *found, Run run, Word *last, int *any)
{
    return add_words(found, run, last, any) || add_acronyms(found, run) || add_codes(found, run) ? -1 : 0;
}

/* The record of a term, a new reference. */
static Term *record_of(Runs *runs, PyObject *text)
{
    Py_ssize_t size;
    const char *key = PyUnicode_AsUTF8AndSize(text, &size);
    if (key == NULL) return NULL;
    uint32_t hash = size <= LONGEST_KEY ? hash_of(key, (size_t)size) : 0;
    Term *term = size <= LONGEST_KEY ? get(&runs->records, hash, key, (size_t)size) : NULL;
    if (term == NULL) {
        term = calloc(1, sizeof(Term));
        if (term == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        Py_INCREF(text);
        term->text = text;
        term->references = 1;
        if (size > LONGEST_KEY || runs->records.used >= MOST || !put(&runs->records, hash, key, (size_t)size, term)) return term;
        term->shared = 1;
    }
    term->references++;
    return term;
}

static int hold(Runs *runs, Entry *entry, PyObject *terms)
{
    for (Py_ssize_t index = 0; index < PyList_Size(terms); index++) {
        Term *term = record_of(runs, PyList_GetItem(terms, index));
        if (term == NULL) return -1;
        entry->held[entry->terms++] = term;
    }
    return 0;
}

/* An entry of lists of terms; takes over the references to tail and head, which may be None. */
static Entry *entry_with(Runs *runs, PyObject *words, PyObject *exact, PyObject *tail, PyObject *head)
{
    Py_ssize_t size = PyList_Size(words) + PyList_Size(exact);
    Entry *entry = calloc(1, sizeof(Entry) + (size_t)size * sizeof(Term *));
    if (entry == NULL) {
        Py_DECREF(tail);
        Py_DECREF(head);
        PyErr_NoMemory();
        return NULL;
    }
    *entry = (Entry){.references = 1, .tail = tail, .head = head};
    if (tail == Py_None) Py_CLEAR(entry->tail);
    if (head == Py_None) Py_CLEAR(entry->head);
    entry->words = (uint32_t)PyList_Size(words);
    if (!hold(runs, entry, words) && !hold(runs, entry, exact)) return entry;
    drop_entry(entry);
    return NULL;
}

static Entry *counted_run(Runs *runs, Run run)
{
    Found found = {.runs = runs, .words = PyList_New(0), .exact = PyList_New(0)};
    PyObject *tail = NULL, *head = NULL;
    Entry *made = NULL;
    Word last = {0};
    size_t end;
    int any;
    if (found.words && found.exact && !analyze(&found, run, &last, &any)) {
        tail = any ? tail_of(&found, run, &last) : none();
        head = tail ? head_of(run, &end) : NULL;
        if (head) made = entry_with(runs, found.words, found.exact, tail, head);
        else Py_XDECREF(tail);
    }
    Py_XDECREF(found.words);
    Py_XDECREF(found.exact);
    return made;
}

static int is_text_or_none(PyObject *object) { return object == Py_None || PyUnicode_Check(object); }

/* The same by Python, for a run that is not ASCII. */
static Entry *asked_run(Runs *runs, Run run)
{
    PyObject *words, *exact, *tail, *head;
    PyObject *given = PyObject_CallFunction(runs->count_run, "s#", (const char *)run.text, (Py_ssize_t)run.size);
    if (given == NULL) return NULL;
    Entry *made = NULL;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a run comes to a tuple");
    } else if (PyArg_ParseTuple(given, "O!O!OO", &PyList_Type, &words, &PyList_Type, &exact, &tail, &head)) {
        if (is_text_or_none(tail) && is_text_or_none(head)) {
            Py_INCREF(tail);
            Py_INCREF(head);
            made = entry_with(runs, words, exact, tail, head);
        } else {
            PyErr_SetString(PyExc_TypeError, "a tail or a head is a str or None");
        }
    }
    Py_DECREF(given);
    return made;
}

static PyObject *placed_run(Runs *runs, Run run)
{
    Found found = {.runs = runs, .pieces = PyList_New(0)};
    PyObject *tail = NULL, *head = NULL, *pieces = NULL, *made = NULL;
    Word last = {0};
    size_t end = 0;
    int any;
    if (found.pieces && !analyze(&found, run, &last, &any)) {
        tail = any ? tail_of(&found, run, &last) : none();
        head = tail ? head_of(run, &end) : NULL;
        pieces = head ? PyList_AsTuple(found.pieces) : NULL;
        made = pieces ? Py_BuildValue("(OOnOn())", pieces, tail, (Py_ssize_t)last.start, head, (Py_ssize_t)end) : NULL;
    }
    Py_XDECREF(found.pieces);
    Py_XDECREF(tail);
    Py_XDECREF(head);
    Py_XDECREF(pieces);
    return made;
}

static int is_ascii(Run run)
{
    for (size_t place = 0; place < run.size; place++)
        if (run.text[place] >= 0x80) return 0;
    return 1;
}

/* ---- signs of print that ASCII lacks ---- */

enum { LONGEST_SPELLED = 128 };

/* What words are cut at alike to a sign: an apostrophe, the full stops of an ellipsis, or a quotation mark for those that
 * only part words; 0 for what is not among these. Normalizing makes the same of them, and nothing of the last ones. */
static char spelled_as(unsigned code)
{
    static const unsigned parting[] = {
        0xa1, 0xa2, 0xa3, 0xa5, 0xa6, 0xa7, 0xa9, 0xab, 0xac, 0xae, 0xb0, 0xb1, 0xb6, 0xb7, 0xbb, 0xbf, /* Latin-1's */
        0xd7, 0xf7, 0x2016, 0x2020, 0x2021, 0x2022, 0x2030, 0x2032,  /* times, divided by, bars, daggers, bullet, prime */
        0x2192, 0x2212, 0x223c, 0x2248, 0x2264, 0x2265,              /* arrow, minus, tilde, about, at most, at least */
    };
    if (code == 0x2018 || code == 0x2019 || code == 0x201b) return '\'';
    if (code == 0x2026) return '.';
    if (code == 0x2010 || (0x2012 <= code && code <= 0x2015) || (0x201a <= code && code <= 0x201f)) return '"';
    for (size_t index = 0; index < sizeof parting / sizeof *parting; index++)
        if (parting[index] == code) return '"';
    return 0;
}

/* The bytes of the sign that begins at `place`, or 0. */
static size_t sign_at(Run run, size_t place, char *spelled)
{
    unsigned first = at(run, place), second = at(run, place + 1) & 0x3fu, third = at(run, place + 2) & 0x3fu;
    size_t bytes = first < 0xe0 ? 2 : 3;
    *spelled = first < 0xf0 ? spelled_as(bytes == 2 ? (first & 0x1fu) << 6 | second : (first & 0x0fu) << 12 | second << 6 | third) : 0;
    return *spelled ? bytes : 0;
}

/* What a run of ASCII and signs comes to when it is counted: the same as one of ASCII alone. Others are for Python. */
static Entry *spelled_run(Runs *runs, Run run)
{
    unsigned char text[LONGEST_SPELLED];
    size_t size = 0;
    if (run.size > LONGEST_SPELLED) return asked_run(runs, run);
    for (size_t place = 0; place < run.size;) {
        char spelled = (char)run.text[place];
        size_t bytes = run.text[place] < 0x80 ? 1 : sign_at(run, place, &spelled);
        if (!bytes) return asked_run(runs, run);
        for (int times = spelled == '.' && bytes > 1 ? 3 : 1; times; times--) text[size++] = (unsigned char)spelled;
        place += bytes;
    }
    return counted_run(runs, (Run){text, size});
}

/* A run as it is counted: most are a word with a capital or with punctuation, and share what the word comes to. */
typedef struct {
    Run run;
    char folded[LONGEST_KEY]; /* where `run` then points to */
    int tailless;             /* after other punctuation than one full stop a word makes no pair with what follows */
} Plain;

static int opens(unsigned char c) { return c == '"' || c == '\'' || c == '(' || c == '[' || c == '{' || c == '<'; }

static int closes(unsigned char c)
{
    switch (c) {
    case '"': case '\'': case ')': case ']': case '}': case '>': case ',': case ';': case ':': case '!': case '?': case '.':
        return 1;
    }
    return 0;
}

static void make_plain(Run run, Plain *plain)
{
    *plain = (Plain){.run = run};
    size_t first = 0;
    while (opens(at(run, first))) first++;
    size_t end = first + 1;
    if (!is_letter(at(run, first))) return;
    while (is_lower(at(run, end))) end++;
    size_t rest = end;
    while (closes(at(run, rest))) rest++;
    if (rest < run.size || end - first > LONGEST_KEY) return;
    for (size_t index = first; index < end; index++) plain->folded[index - first] = lowered((char)run.text[index]);
    plain->run = (Run){(const unsigned char *)plain->folded, end - first};
    plain->tailless = !(end == run.size || (end + 1 == run.size && run.text[end] == '.'));
}

static int was_met(void *value)
{
    Entry *entry = value;
    int met = entry->met != 0;
    entry->met = 0;
    return met;
}

static int is_held(void *value) { return ((Term *)value)->references > 1; }

/* Makes room in full tables: runs that were met once go, and records that nothing else holds. So a word that comes again
 * and again is analyzed once, however many others there are. Where that frees too little, everything goes. */
static void forget_rare(Runs *runs)
{
    const uint32_t enough = MOST / 4 * 3;
    if (sweep(&runs->counted, was_met) && sweep(&runs->records, is_held)
        && runs->counted.used <= enough && runs->records.used <= enough) return;
    runs->emptied++;
    empty(&runs->counted);
    empty(&runs->records);
}

/* What a run comes to, a new reference: remembered, made here, or asked of Python. `hash` is that of a short one. */
static Entry *entry_of(Runs *runs, Run run, uint32_t hash)
{
    const char *key = (const char *)run.text;
    int short_enough = run.size <= LONGEST_KEY;
    Entry *entry = short_enough ? get(&runs->counted, hash, key, run.size) : NULL;
    if (entry == NULL) {
        entry = is_ascii(run) ? counted_run(runs, run) : spelled_run(runs, run);
        if (entry == NULL) return NULL;
        if (runs->counted.used >= MOST || runs->records.used >= MOST) forget_rare(runs);
        if (!short_enough || !put(&runs->counted, hash, key, run.size, entry)) return entry;
    }
    entry->references++;
    return entry;
}

/* The same with places: a tuple, see `_PlacedRun`. */
static PyObject *places_of(Runs *runs, Run run)
{
    const char *key = (const char *)run.text;
    int short_enough = run.size <= LONGEST_KEY;
    uint32_t hash = short_enough ? hash_of(key, run.size) : 0;
    PyObject *made = short_enough ? get(&runs->placed, hash, key, run.size) : NULL;
    if (made == NULL) {
        made = is_ascii(run) ? placed_run(runs, run)
                             : PyObject_CallFunction(runs->place_run, "s#", key, (Py_ssize_t)run.size);
        if (made == NULL) return NULL;
        if (!PyTuple_Check(made)) {
            Py_DECREF(made);
            PyErr_SetString(PyExc_TypeError, "a run comes to a tuple");
            return NULL;
        }
        if (runs->placed.used >= MOST) empty(&runs->placed);
        if (!short_enough || !put(&runs->placed, hash, key, run.size, made)) return made;
    }
    Py_INCREF(made);
    return made;
}

/* ---- a text's runs ---- */

/* Whether a byte is a character of ASCII that is no white space, as nearly all are. */
static int is_plain(unsigned char c) { return (unsigned char)(c - 0x21) < 0x80 - 0x21; }

/* The bytes of the white space that `str.split` knows and that begins here, or 0. `size` is at least 1. */
static size_t space_at(const unsigned char *text, size_t size)
{
    unsigned char c = text[0];
    if (c > 0x20 && c < 0xc2) return 0;
    if (c <= 0x20) return (c >= 9 && c <= 13) || c >= 0x1c;
    if (c == 0xc2) return size > 1 && (text[1] == 0x85 || text[1] == 0xa0) ? 2 : 0;
    if (c < 0xe1 || c > 0xe3 || size < 3) return 0;
    unsigned char d = text[1], e = text[2];
    if (c == 0xe1) return d == 0x9a && e == 0x80 ? 3 : 0;
    if (c == 0xe3) return d == 0x80 && e == 0x80 ? 3 : 0;
    if (d == 0x80) return (e >= 0x80 && e <= 0x8a) || e == 0xa8 || e == 0xa9 || e == 0xaf ? 3 : 0;
    return d == 0x81 && e == 0x9f ? 3 : 0;
}

typedef struct {
    const unsigned char *text;
    size_t size, place;
    Py_ssize_t characters; /* before `place` */
    Run run;
    Py_ssize_t start; /* of the run, in characters */
} Scan;

static int next_run(Scan *scan)
{
    const unsigned char *text = scan->text;
    size_t place = scan->place, space;
    while (place < scan->size && (space = space_at(text + place, scan->size - place))) {
        place += space;
        scan->characters++;
    }
    size_t first = place;
    scan->start = scan->characters;
    for (;;) {
        size_t from = place;
        while (place < scan->size && is_plain(text[place])) place++;
        scan->characters += (Py_ssize_t)(place - from);
        if (place == scan->size || space_at(text + place, scan->size - place)) break;
        scan->characters += (text[place] & 0xc0) != 0x80;
        place++;
    }
    scan->place = place;
    scan->run = (Run){text + first, place - first};
    return place > first;
}

static PyObject *pair_of(PyObject *tail, PyObject *head)
{
    return PyUnicode_FromFormat("=%U %U", tail, head);
}

static int scan_of(PyObject *text, Scan *scan)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes == NULL) return -1;
    *scan = (Scan){.text = (const unsigned char *)bytes, .size = (size_t)size};
    return 0;
}

typedef struct {
    Entry *entry;
    int tailless;
} Met;

/* The entries of a text's runs, in order. */
typedef struct {
    Met *held;
    size_t size, room;
} Entries;

static int room_for(Entries *entries, size_t more)
{
    if (entries->size + more <= entries->room) return 0;
    size_t room = 2 * entries->room + more;
    Met *held = realloc(entries->held, room * sizeof(Met));
    if (held == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    entries->held = held;
    entries->room = room;
    return 0;
}

/* Runs that are looked up together, so that the memory of one is fetched while that of another is waited for. */
typedef struct {
    Plain plain[TOGETHER];
    uint32_t hash[TOGETHER];
    Entry *entry[TOGETHER];
    size_t size;
} Some;

/* Holds the entries that are remembered. No Python runs here, which could empty the table. */
static void look_up(Runs *runs, Some *some)
{
    for (size_t index = 0; index < some->size; index++) {
        Run run = some->plain[index].run;
        int short_enough = run.size <= LONGEST_KEY;
        some->entry[index] = short_enough ? get(&runs->counted, some->hash[index], (const char *)run.text, run.size) : NULL;
        if (some->entry[index]) fetch(some->entry[index]);
    }
    for (size_t index = 0; index < some->size; index++) {
        Entry *entry = some->entry[index];
        if (entry == NULL) continue;
        entry->references++;
        entry->met = 1;
    }
}

/* Takes over what `some` holds and makes what is not remembered, in order. */
static int keep(Runs *runs, Entries *entries, Some *some)
{
    look_up(runs, some);
    int failed = room_for(entries, some->size);
    for (size_t index = 0; index < some->size; index++) {
        Entry *entry = some->entry[index];
        if (!failed && entry == NULL) entry = entry_of(runs, some->plain[index].run, some->hash[index]);
        if (!failed && entry == NULL) failed = -1;
        if (!failed) entries->held[entries->size++] = (Met){entry, some->plain[index].tailless};
        else if (entry) drop_entry(entry);
    }
    some->size = 0;
    return failed;
}

/* Notes one run more, whose slot is fetched meanwhile. */
static void note(Runs *runs, Some *some, Run run)
{
    Plain *plain = &some->plain[some->size];
    make_plain(run, plain);
    uint32_t hash = plain->run.size <= LONGEST_KEY ? hash_of((const char *)plain->run.text, plain->run.size) : 0;
    some->hash[some->size++] = hash;
    if (runs->counted.slots == NULL) return;
    const Slot *slot = &runs->counted.slots[hash & (runs->counted.room - 1)];
    fetch(slot);
    fetch(&slot->value); /* half of the slots stand in two lines of the cache */
}

static int keep_all(Runs *runs, Entries *entries, Scan *scan)
{
    Some some = {.size = 0};
    int failed = 0;
    while (!failed && next_run(scan)) {
        note(runs, &some, scan->run);
        if (some.size == TOGETHER) failed = keep(runs, entries, &some);
    }
    return failed ? -1 : keep(runs, entries, &some);
}

static void drop_all(Entries *entries)
{
    for (size_t index = 0; index < entries->size; index++) drop_entry(entries->held[index].entry);
    free(entries->held);
}

/* The terms of a text, each once, in the order in which they are first met, with how often they occur. */
typedef struct {
    Term *term;
    uint32_t count;
} Often;

static size_t tally_one(uint64_t stamp, Term *term, Often *distinct, size_t found)
{
    if (term->stamp != stamp) {
        term->stamp = stamp;
        term->count = 0;
        distinct[found++].term = term;
    }
    term->count++;
    return found;
}

static void fetch_terms(const Entries *entries, size_t index)
{
    if (index >= entries->size) return;
    const Entry *entry = entries->held[index].entry;
    for (uint32_t one = 0; one < entry->terms; one++) fetch(entry->held[one]);
}

/* Counts terms in their records, which nothing else does meanwhile: nothing here runs Python. Gives how many differ.
 * `distinct` has room for all. Pairs come last. */
static size_t tally(Runs *runs, const Entries *entries, const Entries *pairs, Often *distinct)
{
    uint64_t stamp = ++runs->stamp;
    size_t found = 0;
    for (size_t index = 0; index < AHEAD; index++) fetch_terms(entries, index);
    for (size_t index = 0; index < entries->size; index++) {
        const Entry *entry = entries->held[index].entry;
        fetch_terms(entries, index + AHEAD);
        for (uint32_t one = 0; one < entry->terms; one++) found = tally_one(stamp, entry->held[one], distinct, found);
    }
    for (size_t index = 0; index < pairs->size; index++)
        found = tally_one(stamp, pairs->held[index].entry->held[0], distinct, found);
    for (size_t index = 0; index < found; index++) distinct[index].count = distinct[index].term->count;
    return found;
}

/* The pairs of a text, as entries of one term each. */
static int find_pairs(Runs *runs, const Entries *entries, Entries *pairs)
{
    for (size_t index = 1; index < entries->size; index++) {
        PyObject *tail = entries->held[index - 1].entry->tail, *head = entries->held[index].entry->head;
        if (tail == NULL || head == NULL || entries->held[index - 1].tailless) continue;
        PyObject *pair = room_for(pairs, 1) ? NULL : pair_of(tail, head);
        Entry *entry = pair ? calloc(1, sizeof(Entry) + sizeof(Term *)) : NULL;
        if (pair && entry == NULL) PyErr_NoMemory();
        if (entry) {
            entry->references = 1;
            entry->held[0] = record_of(runs, pair);
            entry->terms = entry->held[0] != NULL;
            pairs->held[pairs->size++].entry = entry;
        }
        Py_XDECREF(pair);
        if (entry == NULL || !entry->terms) return -1;
    }
    return 0;
}

/* ---- counts as they are handed out: a mapping that becomes a dict when it is read, which indexing never does ---- */

typedef struct {
    PyObject_HEAD
    Often *held;    /* `size` of them, each with a reference of its own and no two of one text */
    Py_ssize_t size;
    PyObject *dict; /* NULL until asked for */
} Counts;

static PyObject *dict_of(const Often *held, size_t size)
{
    PyObject *dict = PyDict_New();
    for (size_t index = 0; dict != NULL && index < size; index++) {
        PyObject *before = PyDict_GetItemWithError(dict, held[index].term->text);
        unsigned long more = before ? PyLong_AsUnsignedLong(before) : 0;
        PyObject *count = PyErr_Occurred() ? NULL : PyLong_FromUnsignedLong(more + held[index].count);
        if (count == NULL || PyDict_SetItem(dict, held[index].term->text, count)) Py_CLEAR(dict);
        Py_XDECREF(count);
    }
    return dict;
}

/* The dict of counts, a borrowed reference. */
static PyObject *read_counts(PyObject *object)
{
    Counts *counts = (Counts *)object;
    if (counts->dict == NULL) {
        PyObject *made = dict_of(counts->held, (size_t)counts->size);
        if (counts->dict == NULL) counts->dict = made;
        else Py_XDECREF(made);
    }
    return counts->dict;
}

static void counts_free(PyObject *object)
{
    Counts *counts = (Counts *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (Py_ssize_t index = 0; index < counts->size; index++) {
        if (index + AHEAD < counts->size) fetch(counts->held[index + AHEAD].term);
        drop_term(counts->held[index].term);
    }
    free(counts->held);
    Py_CLEAR(counts->dict);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static Py_ssize_t counts_length(PyObject *object) { return ((Counts *)object)->size; }

static PyObject *counts_get(PyObject *object, PyObject *key)
{
    PyObject *dict = read_counts(object);
    return dict ? PyObject_GetItem(dict, key) : NULL;
}

static int counts_contains(PyObject *object, PyObject *key)
{
    PyObject *dict = read_counts(object);
    return dict ? PySequence_Contains(dict, key) : -1;
}

static PyObject *counts_iterate(PyObject *object)
{
    PyObject *dict = read_counts(object);
    return dict ? PyObject_GetIter(dict) : NULL;
}

static PyObject *counts_write(PyObject *object)
{
    PyObject *dict = read_counts(object);
    return dict ? PyObject_Repr(dict) : NULL;
}

static PyObject *counts_compare(PyObject *object, PyObject *other, int how)
{
    if (how != Py_EQ && how != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    PyObject *dict = read_counts(object);
    PyObject *against = dict && Py_TYPE(other) == Py_TYPE(object) ? read_counts(other) : other;
    return dict && against ? PyObject_RichCompare(dict, against, how) : NULL;
}

static PyObject *counts_ask(PyObject *object, const char *method)
{
    PyObject *dict = read_counts(object);
    return dict ? PyObject_CallMethod(dict, method, NULL) : NULL;
}

static PyObject *counts_keys(PyObject *object, PyObject *nothing) { (void)nothing; return counts_ask(object, "keys"); }
static PyObject *counts_values(PyObject *object, PyObject *nothing) { (void)nothing; return counts_ask(object, "values"); }
static PyObject *counts_items(PyObject *object, PyObject *nothing) { (void)nothing; return counts_ask(object, "items"); }

static PyObject *counts_get_or(PyObject *object, PyObject *arguments)
{
    PyObject *key, *otherwise = Py_None;
    if (!PyArg_ParseTuple(arguments, "O|O", &key, &otherwise)) return NULL;
    PyObject *dict = read_counts(object);
    PyObject *held = dict ? PyDict_GetItemWithError(dict, key) : NULL;
    if (PyErr_Occurred()) return NULL;
    return Py_NewRef(held ? held : otherwise);
}

static PyObject *counts_reduce(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    PyObject *dict = read_counts(object);
    return dict ? Py_BuildValue("O(O)", (PyObject *)&PyDict_Type, dict) : NULL;
}

static PyMethodDef COUNTS_METHODS[] = {
    {"keys", counts_keys, METH_NOARGS, "Return the terms."},
    {"values", counts_values, METH_NOARGS, "Return how often they occur."},
    {"items", counts_items, METH_NOARGS, "Return the terms and how often they occur."},
    {"get", counts_get_or, METH_VARARGS, "Return how often a term occurs, or what is given."},
    {"__reduce__", counts_reduce, METH_NOARGS, "Return how a dict of the same is made."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot COUNTS_SLOTS[] = {
    {Py_tp_dealloc, (void *)counts_free},
    {Py_mp_length, (void *)counts_length},
    {Py_mp_subscript, (void *)counts_get},
    {Py_sq_contains, (void *)counts_contains},
    {Py_tp_iter, (void *)counts_iterate},
    {Py_tp_repr, (void *)counts_write},
    {Py_tp_richcompare, (void *)counts_compare},
    {Py_tp_hash, (void *)PyObject_HashNotImplemented},
    {Py_tp_methods, COUNTS_METHODS},
    {0, NULL},
};

static PyType_Spec COUNTS = {
    .name = "twofold._analyzer.Counts",
    .basicsize = sizeof(Counts),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = COUNTS_SLOTS,
};

typedef struct {
    PyTypeObject *counts;
} State;

/* Takes over `distinct`, in which no two are of one text. */
static PyObject *counts_of(const Runs *runs, Often *distinct, size_t size)
{
    PyTypeObject *type = ((State *)PyType_GetModuleState(Py_TYPE((PyObject *)runs)))->counts;
    Counts *counts = type ? (Counts *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0) : NULL;
    if (counts == NULL) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "the module is gone");
        free(distinct);
        return NULL;
    }
    Often *fitting = realloc(distinct, (size + 1) * sizeof(Often));
    counts->held = fitting ? fitting : distinct;
    for (size_t index = 0; index < size; index++) counts->held[index].term->references++;
    counts->size = (Py_ssize_t)size;
    return (PyObject *)counts;
}

/* Counts a text's terms: a `Counts`, or a dict where two records may be of one term. */
static PyObject *count_terms(Runs *runs, const Entries *entries, const Entries *pairs, int alone)
{
    size_t all = pairs->size;
    for (size_t index = 0; index < entries->size; index++) all += entries->held[index].entry->terms;
    Often *distinct = malloc((all + 1) * sizeof(Often));
    if (distinct == NULL) return PyErr_NoMemory();
    size_t found = tally(runs, entries, pairs, distinct);
    for (size_t index = 0; alone && index < found; index++) alone = distinct[index].term->shared;
    if (alone) return counts_of(runs, distinct, found);
    PyObject *dict = dict_of(distinct, found);
    free(distinct);
    return dict;
}

static PyObject *runs_count(PyObject *object, PyObject *text)
{
    Runs *runs = (Runs *)object;
    Scan scan;
    if (scan_of(text, &scan)) return NULL;
    Entries entries = {0}, pairs = {0};
    uint64_t emptied = runs->emptied;
    Py_ssize_t length = 0;
    PyObject *counts = NULL, *made = NULL;
    int failed = keep_all(runs, &entries, &scan) || find_pairs(runs, &entries, &pairs);
    for (size_t index = 0; index < entries.size; index++) length += entries.held[index].entry->words;
    if (!failed) counts = count_terms(runs, &entries, &pairs, emptied == runs->emptied);
    if (counts) made = Py_BuildValue("(Nn)", counts, length);
    drop_all(&entries);
    drop_all(&pairs);
    return made;
}

static int place_one(Runs *runs, PyObject *tokens, PyObject *term, Py_ssize_t start, Py_ssize_t end, PyObject *kind)
{
    PyObject *token = PyObject_CallFunction(runs->token, "OnnO", term, start, end, kind);
    int failed = token == NULL || PyList_Append(tokens, token);
    Py_XDECREF(token);
    return failed ? -1 : 0;
}

typedef struct {
    PyObject *tail; /* NULL or None: nothing */
    Py_ssize_t start;
} Left;

static int place_run(Runs *runs, PyObject *tokens, PyObject *entry, Py_ssize_t shift, Left *left)
{
    PyObject *pieces, *tail, *head, *links, *term, *kind;
    Py_ssize_t tail_start, head_end, start, end;
    if (!PyArg_ParseTuple(entry, "O!OnOnO", &PyTuple_Type, &pieces, &tail, &tail_start, &head, &head_end, &links)) return -1;
    for (Py_ssize_t index = 0; index < PyTuple_Size(pieces); index++) {
        if (!PyArg_ParseTuple(PyTuple_GetItem(pieces, index), "OnnO", &term, &start, &end, &kind)) return -1;
        if (place_one(runs, tokens, term, shift + start, shift + end, kind)) return -1;
    }
    if (left->tail != NULL && left->tail != Py_None && head != Py_None) {
        PyObject *pair = pair_of(left->tail, head);
        int failed = pair == NULL
                     || place_one(runs, tokens, pair, left->start, shift + head_end, runs->kinds[PAIR]);
        Py_XDECREF(pair);
        if (failed) return -1;
    }
    Py_INCREF(tail);
    Py_XDECREF(left->tail);
    *left = (Left){tail, shift + tail_start};
    return 0;
}

static PyObject *runs_place(PyObject *object, PyObject *text)
{
    Runs *runs = (Runs *)object;
    Scan scan;
    if (scan_of(text, &scan)) return NULL;
    PyObject *tokens = PyList_New(0);
    Left left = {0};
    int failed = tokens == NULL;
    while (!failed && next_run(&scan)) {
        PyObject *entry = places_of(runs, scan.run);
        failed = entry == NULL || place_run(runs, tokens, entry, scan.start, &left);
        Py_XDECREF(entry);
    }
    Py_XDECREF(left.tail);
    if (failed) Py_CLEAR(tokens);
    return tokens;
}

/* ---- the type ---- */

static int runs_clear(PyObject *object)
{
    Runs *runs = (Runs *)object;
    Py_CLEAR(runs->term_of);
    Py_CLEAR(runs->count_run);
    Py_CLEAR(runs->place_run);
    Py_CLEAR(runs->token);
    for (int kind = 0; kind < KINDS; kind++) Py_CLEAR(runs->kinds[kind]);
    empty(&runs->words);
    empty(&runs->counted);
    empty(&runs->records);
    empty(&runs->placed);
    return 0;
}

static int runs_traverse(PyObject *object, visitproc visit, void *arg)
{
    Runs *runs = (Runs *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(runs->term_of);
    Py_VISIT(runs->count_run);
    Py_VISIT(runs->place_run);
    Py_VISIT(runs->token);
    for (int kind = 0; kind < KINDS; kind++) Py_VISIT(runs->kinds[kind]);
    return 0; /* entries hold strings and kinds, which lead nowhere */
}

static void runs_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    runs_clear(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *runs_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    PyObject *of_word, *of_run, *places, *token, *kinds;
    int splits, humps;
    if (named != NULL && PyDict_Size(named)) {
        PyErr_SetString(PyExc_TypeError, "arguments go by place");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "OOOOO!pp", &of_word, &of_run, &places, &token, &PyTuple_Type, &kinds, &splits, &humps))
        return NULL;
    if (PyTuple_Size(kinds) < KINDS) {
        PyErr_SetString(PyExc_ValueError, "kinds are missing");
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Runs *runs = (Runs *)allocate(type, 0); /* all zero */
    if (runs == NULL) return NULL;
    Py_INCREF(runs->term_of = of_word);
    Py_INCREF(runs->count_run = of_run);
    Py_INCREF(runs->place_run = places);
    Py_INCREF(runs->token = token);
    for (int kind = 0; kind < KINDS; kind++) Py_INCREF(runs->kinds[kind] = PyTuple_GetItem(kinds, kind));
    runs->words.drop = drop_object;
    runs->counted.drop = drop_entry;
    runs->records.drop = drop_term;
    runs->placed.drop = drop_object;
    runs->splits = splits;
    runs->humps = humps;
    return (PyObject *)runs;
}

static PyMethodDef RUNS_METHODS[] = {
    {"count", runs_count, METH_O, "Return a text's counts by term, and its length in words."},
    {"place", runs_place, METH_O, "Return a text's tokens."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot RUNS_SLOTS[] = {
    {Py_tp_new, (void *)runs_new},
    {Py_tp_dealloc, (void *)runs_free},
    {Py_tp_traverse, (void *)runs_traverse},
    {Py_tp_clear, (void *)runs_clear},
    {Py_tp_methods, RUNS_METHODS},
    {0, NULL},
};

static PyType_Spec RUNS = {
    .name = "twofold._analyzer.Runs",
    .basicsize = sizeof(Runs),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = RUNS_SLOTS,
};

/* ---- terms as the catalog keeps them ---- */

enum { DIGITS = 6 }; /* bytes of 32 bits of number and 16 of count */

/* Sorts, rising, byte by byte from the last; `spare` has the same room. Numbers differ, so the count needs no sorting. */
static void sort_numbers(uint64_t *numbers, uint64_t *spare, size_t size)
{
    for (int digit = 2; digit < DIGITS; digit++) {
        uint32_t starts[257] = {0};
        for (size_t index = 0; index < size; index++) starts[(numbers[index] >> (8 * digit) & 0xff) + 1]++;
        if (size && starts[(numbers[0] >> (8 * digit) & 0xff) + 1] == size) continue; /* all alike */
        for (int value = 1; value < 257; value++) starts[value] += starts[value - 1];
        for (size_t index = 0; index < size; index++) spare[starts[numbers[index] >> (8 * digit) & 0xff]++] = numbers[index];
        memcpy(numbers, spare, size * sizeof *numbers);
    }
}

/* A vocabulary: numbers by term, the last one that was given before, the terms that came since, and its name. Records
 * of terms keep numbers under that name, so that each term is looked up once. */
typedef struct {
    PyObject *ids, *fresh;
    unsigned long long last, name;
} Numbers;

/* The number of a term, a new one where it has none; 0 for an error. */
static uint64_t number_of(PyObject *term, const Numbers *numbers)
{
    PyObject *id = PyDict_GetItemWithError(numbers->ids, term);
    if (id != NULL) {
        unsigned long long number = PyLong_AsUnsignedLongLong(id);
        if (!PyErr_Occurred() && number > 0 && number <= UINT32_MAX) return number;
    } else if (!PyErr_Occurred()) {
        unsigned long long number = numbers->last + (unsigned long long)PyList_Size(numbers->fresh) + 1;
        id = number <= UINT32_MAX ? PyLong_FromUnsignedLongLong(number) : NULL;
        int failed = id == NULL || PyDict_SetItem(numbers->ids, term, id) || PyList_Append(numbers->fresh, term);
        Py_XDECREF(id);
        if (!failed) return number;
    }
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a term's number is out of range");
    return 0;
}

static int is_numbered(const Term *term, unsigned long long name) { return name && term->vocabulary == name; }

static uint64_t packed_pair(uint64_t number, unsigned long long often)
{
    return number << 16 | (often < UINT16_MAX ? often : UINT16_MAX);
}

/* Terms' numbers and counts, each in 64 bits: 32 of number, 16 of count. -1 for an error. */
static int gather(PyObject *counts, const Numbers *numbers, uint64_t *made)
{
    Py_ssize_t place = 0, room = PyDict_Size(counts), size = 0;
    PyObject *term, *count;
    while (size < room && PyDict_Next(counts, &place, &term, &count)) {
        unsigned long long often = PyLong_AsUnsignedLongLong(count);
        uint64_t number = PyErr_Occurred() ? 0 : number_of(term, numbers);
        if (!number) return -1;
        made[size++] = packed_pair(number, often);
    }
    return 0;
}

/* The same of records, which remember their numbers. */
static int gather_counts(const Counts *counts, const Numbers *numbers, uint64_t *made)
{
    for (Py_ssize_t index = 0; index < counts->size; index++) {
        Term *term = counts->held[index].term;
        if (index + AHEAD < counts->size) fetch(counts->held[index + AHEAD].term);
        if (!is_numbered(term, numbers->name)) {
            uint64_t number = number_of(term->text, numbers);
            if (!number) return -1;
            term->number = (uint32_t)number;
            term->vocabulary = numbers->name;
        }
        made[index] = packed_pair(term->number, counts->held[index].count);
    }
    return 0;
}

static PyObject *packed_records(const uint64_t *made, Py_ssize_t size)
{
    PyObject *packed = PyBytes_FromStringAndSize(NULL, 6 * size);
    unsigned char *out = packed ? (unsigned char *)PyBytes_AsString(packed) : NULL;
    for (Py_ssize_t index = 0; packed && index < size; index++, out += 6) {
        uint64_t number = made[index] >> 16, count = made[index] & 0xffff;
        for (int byte = 0; byte < 4; byte++) out[byte] = (unsigned char)(number >> (8 * byte));
        out[4] = (unsigned char)count;
        out[5] = (unsigned char)(count >> 8);
    }
    return packed;
}

/* Whether an object is counts of ours; -1, with an error, where it is no dict either. */
static int is_counts(PyObject *module, PyObject *object)
{
    if (Py_TYPE(object) == ((State *)PyModule_GetState(module))->counts) return 1;
    if (PyDict_Check(object)) return 0;
    PyErr_SetString(PyExc_TypeError, "counts are a dict or an analyzer's");
    return -1;
}

static PyObject *number_terms(PyObject *module, PyObject *arguments)
{
    PyObject *counts, *packed = NULL;
    Numbers numbers = {0};
    if (!PyArg_ParseTuple(arguments, "OO!KO!K", &counts, &PyDict_Type, &numbers.ids, &numbers.last, &PyList_Type,
                          &numbers.fresh, &numbers.name)) return NULL;
    int ours = is_counts(module, counts);
    if (ours < 0) return NULL;
    Py_ssize_t size = ours ? ((Counts *)counts)->size : PyDict_Size(counts);
    uint64_t *made = malloc(2 * ((size_t)size + 1) * sizeof(uint64_t));
    if (made == NULL) return PyErr_NoMemory();
    if (!(ours ? gather_counts((Counts *)counts, &numbers, made) : gather(counts, &numbers, made))) {
        sort_numbers(made, made + size, (size_t)size);
        packed = packed_records(made, size);
    }
    free(made);
    return packed;
}

static int add_unknown(PyObject *unknown, PyObject *term, PyObject *ids)
{
    if (PyDict_GetItemWithError(ids, term) != NULL) return 0;
    return PyErr_Occurred() || PyList_Append(unknown, term) ? -1 : 0;
}

static PyObject *unknown_terms(PyObject *module, PyObject *arguments)
{
    PyObject *counts, *ids, *term, *count;
    unsigned long long name;
    if (!PyArg_ParseTuple(arguments, "OO!K", &counts, &PyDict_Type, &ids, &name)) return NULL;
    int ours = is_counts(module, counts), failed = ours < 0;
    PyObject *unknown = failed ? NULL : PyList_New(0);
    Py_ssize_t place = 0, size = ours > 0 ? ((Counts *)counts)->size : 0;
    for (Py_ssize_t index = 0; unknown && !failed && index < size; index++) {
        const Term *held = ((Counts *)counts)->held[index].term;
        if (!is_numbered(held, name)) failed = add_unknown(unknown, held->text, ids);
    }
    while (unknown && !ours && !failed && PyDict_Next(counts, &place, &term, &count))
        failed = add_unknown(unknown, term, ids);
    if (failed) Py_CLEAR(unknown);
    return unknown;
}

/* ---- texts as phrases are looked for in them ---- */

typedef struct {
    char *text;
    size_t size, room;
} Squeezed;

static int room_to_squeeze(Squeezed *made, size_t more)
{
    if (made->size + more <= made->room) return 0;
    size_t room = 2 * (made->size + more);
    char *larger = realloc(made->text, room);
    if (larger == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    made->text = larger;
    made->room = room;
    return 0;
}

/* Runs of ASCII in one pass, up to the first that may not be, where the scan then stands. */
static int append_plain(Squeezed *made, Scan *scan)
{
    if (room_to_squeeze(made, scan->size - scan->place + 1)) return -1;
    const unsigned char *text = scan->text;
    char *out = made->text + made->size, *run_out = out;
    size_t place = scan->place, run = place;
    int inside = 0;
    for (; place < scan->size && text[place] < 0x80; place++) {
        if (text[place] <= 0x20 && space_at(text + place, 1)) {
            inside = 0;
            continue;
        }
        if (!inside) {
            inside = 1;
            run = place;
            run_out = out;
            if (out > made->text) *out++ = ' ';
        }
        *out++ = lowered((char)text[place]);
        while (place + 1 < scan->size && is_plain(text[place + 1])) *out++ = lowered((char)text[++place]);
    }
    int cut = place < scan->size && inside; /* the run goes on, or a space that is not ASCII ends it */
    made->size = (size_t)((cut ? run_out : out) - made->text);
    scan->place = cut ? run : place;
    return 0;
}

static int append(Squeezed *made, const unsigned char *text, size_t size, int lower)
{
    if (room_to_squeeze(made, size + 1)) return -1;
    if (made->size) made->text[made->size++] = ' ';
    for (size_t index = 0; index < size; index++)
        made->text[made->size + index] = lower ? lowered((char)text[index]) : (char)text[index];
    made->size += size;
    return 0;
}

/* Appends a run of ASCII and signs; 0, with nothing appended, where it has other characters. There is room. */
static int append_signs(Squeezed *made, Run run)
{
    char *out = made->text + made->size;
    if (made->size) *out++ = ' ';
    for (size_t place = 0; place < run.size;) {
        char spelled = lowered((char)run.text[place]);
        size_t bytes = run.text[place] < 0x80 ? 1 : sign_at(run, place, &spelled);
        if (!bytes) return 0;
        if (bytes > 1 && spelled == '"') memcpy(out, run.text + place, bytes);
        else memset(out, spelled, spelled == '.' && bytes > 1 ? 3 : 1);
        out += spelled == '"' || (spelled == '.' && bytes > 1) ? bytes : 1;
        place += bytes;
    }
    made->size = (size_t)(out - made->text);
    return 1;
}

/* A run that is not ASCII; folding may leave white space in it. */
static int append_folded(Squeezed *made, Run run, PyObject *fold)
{
    Scan scan;
    if (room_to_squeeze(made, run.size + 1)) return -1;
    if (append_signs(made, run)) return 0;
    PyObject *folded = PyObject_CallFunction(fold, "s#", (const char *)run.text, (Py_ssize_t)run.size);
    int failed = folded == NULL || scan_of(folded, &scan);
    while (!failed && next_run(&scan)) failed = append(made, scan.run.text, scan.run.size, 0);
    Py_XDECREF(folded);
    return failed ? -1 : 0;
}

/* Folds a text into `made`, in place of what was there. */
static int squeeze(PyObject *text, PyObject *fold, Squeezed *made)
{
    Scan scan;
    made->size = 0;
    if (scan_of(text, &scan) || room_to_squeeze(made, scan.size + 1)) return -1;
    int failed = 0;
    while (!failed && !(failed = append_plain(made, &scan)) && next_run(&scan))
        failed = is_ascii(scan.run) ? append(made, scan.run.text, scan.run.size, 1) : append_folded(made, scan.run, fold);
    return failed ? -1 : 0;
}

static PyObject *squeeze_text(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *text, *fold, *squeezed = NULL;
    Squeezed made = {0};
    if (!PyArg_ParseTuple(arguments, "UO", &text, &fold)) return NULL;
    if (!squeeze(text, fold, &made)) squeezed = PyUnicode_FromStringAndSize(made.text, (Py_ssize_t)made.size);
    free(made.text);
    return squeezed;
}

/* Folds text number `index` of a list behind those before it. Folding runs Python, which may do anything to the list. */
static int squeeze_one(PyObject *texts, Py_ssize_t index, PyObject *fold, Squeezed *one, Squeezed *all)
{
    PyObject *text = PyList_GetItem(texts, index);
    if (text == NULL) return -1;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is a str");
        return -1;
    }
    Py_INCREF(text);
    int failed = squeeze(text, fold, one) || room_to_squeeze(all, one->size);
    Py_DECREF(text);
    if (failed) return -1;
    if (one->size) memcpy(all->text + all->size, one->text, one->size);
    all->size += one->size;
    return 0;
}

static PyObject *squeeze_texts(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *texts, *fold, *made = NULL;
    Squeezed one = {0}, all = {0};
    if (!PyArg_ParseTuple(arguments, "O!O", &PyList_Type, &texts, &fold)) return NULL;
    Py_ssize_t size = PyList_Size(texts), index = 0;
    int64_t *lengths = calloc((size_t)size + 1, sizeof *lengths);
    if (lengths == NULL) return PyErr_NoMemory();
    for (; index < size && !squeeze_one(texts, index, fold, &one, &all); index++) lengths[index] = (int64_t)one.size;
    if (index == size)
        made = Py_BuildValue("(y#y#)", all.text ? all.text : "", (Py_ssize_t)all.size, (char *)lengths,
                             size * (Py_ssize_t)sizeof *lengths);
    free(lengths);
    free(one.text);
    free(all.text);
    return made;
}

static PyObject *are_unicode(PyObject *module, PyObject *texts)
{
    (void)module;
    if (!PyList_Check(texts)) {
        PyErr_SetString(PyExc_TypeError, "texts are a list");
        return NULL;
    }
    for (Py_ssize_t index = 0; index < PyList_Size(texts); index++) {
        Py_ssize_t size;
        if (PyUnicode_AsUTF8AndSize(PyList_GetItem(texts, index), &size) != NULL) continue;
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return NULL;
        PyErr_Clear();
        Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

/* ---- a passage's words and signs, as twofold.ingest.enrich.shape describes them ---- */

/* Of each character a byte, by Python's own rules; beyond the table, or OTHER: not cut here. */
enum { ALNUM = 1, ALPHA = 2, DECIMAL = 4, UPPER = 8, LOWER = 16, TITLE = 32, BLANK = 64, OTHER = 128 };
enum { LONGEST_ABBREVIATION = 8, YEAR_DIGITS = 4, FIRST_YEAR = 1500, LAST_YEAR = 2099 };

static int is_one_of(Py_UCS4 character, const Py_UCS4 *some)
{
    while (*some && *some != character) some++;
    return *some != 0;
}

/* Where the word that begins at `at` ends: letters and digits, and single joiners between them. */
static Py_ssize_t word_end(const Py_UCS4 *text, Py_ssize_t size, const unsigned char *classes, Py_ssize_t at)
{
    static const Py_UCS4 joiners[] = {'\'', 0x2019, '-', '.', '/', '_', 0};
    for (;;) {
        while (at < size && classes[text[at]] & ALNUM) at++;
        if (at + 1 >= size || !is_one_of(text[at], joiners) || !(classes[text[at + 1]] & ALNUM)) return at;
        at++;
    }
}

/* The letter of the sign at `at`, 0 where it counts for nothing. */
static char sign_code(const Py_UCS4 *text, Py_ssize_t size, const unsigned char *classes, Py_ssize_t at)
{
    static const Py_UCS4 spaced[] = {'.', '!', '?', 0x2026, ',', ';', ':', 0};
    static const Py_UCS4 anywhere[] = {'(', ')', '[', ']', '{', '}', '|', '\t', 0xab, 0xbb, 0x201c, 0x201d, 0};
    static const Py_UCS4 behind[] = {'"', '\'', ')', ']', 0x2019, 0x201d, 0};
    Py_UCS4 sign = text[at];
    if (is_one_of(sign, anywhere)) return ',';
    if (sign == '\n') {
        do at++;
        while (at < size && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'));
        return at < size && text[at] == '\n' ? '-' : 0;
    }
    if (!is_one_of(sign, spaced)) return 0;
    if (at + 1 < size && !(classes[text[at + 1]] & BLANK) && !is_one_of(text[at + 1], behind)) return 0;
    return sign == ',' || sign == ';' || sign == ':' ? ',' : '.';
}

static char number_code(const Py_UCS4 *word, Py_ssize_t size)
{
    int year = 0;
    for (Py_ssize_t at = 0; at < size && size == YEAR_DIGITS; at++) year = 10 * year + (int)(word[at] - '0');
    return FIRST_YEAR <= year && year <= LAST_YEAR ? 'Y' : 'D';
}

static char word_code(const Py_UCS4 *word, Py_ssize_t size, const unsigned char *classes)
{
    int all = 0xff, any = 0, roman = 1, first = classes[word[0]];
    for (Py_ssize_t at = 0; at < size; at++) {
        all &= classes[word[at]];
        any |= classes[word[at]];
        roman = roman && (word[at] == 'I' || word[at] == 'V' || word[at] == 'X');
    }
    if (all & ALPHA) {
        int capitals = any & UPPER && !(any & (LOWER | TITLE));
        if (1 < size && size <= LONGEST_ABBREVIATION && capitals) return roman ? 'R' : first & UPPER ? 'A' : 'B';
    } else if (all & DECIMAL) {
        return number_code(word, size);
    } else if (any & DECIMAL) {
        return any & ALPHA ? 'C' : 'D';
    }
    if (size == 1) return first & UPPER ? 'S' : first & LOWER ? 's' : 'w';
    return first & UPPER ? 'N' : 'w';
}

static int add_token(PyObject *tokens, PyObject *text, Py_ssize_t start, Py_ssize_t end)
{
    PyObject *token = PyUnicode_Substring(text, start, end);
    int failed = token == NULL || PyList_Append(tokens, token);
    Py_XDECREF(token);
    return failed;
}

/* Cuts a text of `size` characters, all in the table; the letters go to `codes`, which has as many places. */
static PyObject *cut_text(PyObject *text, const Py_UCS4 *characters, Py_ssize_t size, const unsigned char *classes, char *codes)
{
    PyObject *tokens = PyList_New(0);
    Py_ssize_t at = 0, count = 0;
    while (tokens != NULL && at < size) {
        Py_ssize_t end = word_end(characters, size, classes, at);
        char code = classes[characters[at]] & ALNUM ? word_code(characters + at, end - at, classes)
                                                    : sign_code(characters, size, classes, at);
        if (!(classes[characters[at]] & ALNUM)) end = at + 1;
        if (code) codes[count++] = code;
        if (code && add_token(tokens, text, at, end)) Py_CLEAR(tokens);
        at = end;
    }
    if (tokens == NULL) return NULL;
    return Py_BuildValue("Ns#", tokens, codes, count);
}

static PyObject *shape_tokens(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *text, *found = NULL;
    const unsigned char *classes;
    Py_ssize_t known;
    if (!PyArg_ParseTuple(arguments, "Uy#", &text, &classes, &known)) return NULL;
    Py_ssize_t size = PyUnicode_GetLength(text), inside = 0;
    Py_UCS4 *characters = PyUnicode_AsUCS4Copy(text);
    char *codes = malloc((size_t)size + 1);
    if (characters == NULL || codes == NULL) {
        if (characters != NULL) PyErr_NoMemory();
    } else {
        while (inside < size && (Py_ssize_t)characters[inside] < known && !(classes[characters[inside]] & OTHER)) inside++;
        found = inside < size ? Py_NewRef(Py_None) : cut_text(text, characters, size, classes, codes);
    }
    free(codes);
    PyMem_Free(characters);
    return found;
}

static PyMethodDef METHODS[] = {
    {"are_unicode", are_unicode, METH_O, "Return whether all texts can be written as UTF-8."},
    {"number_terms", number_terms, METH_VARARGS, "Return a passage's terms as the catalog keeps them."},
    {"shape_tokens", shape_tokens, METH_VARARGS, "Return a passage's words and signs with a letter for each, or None."},
    {"squeeze_text", squeeze_text, METH_VARARGS, "Return a text as phrases are looked for in it."},
    {"squeeze_texts", squeeze_texts, METH_VARARGS, "Return texts as phrases are looked for in them, and how long each is."},
    {"unknown_terms", unknown_terms, METH_VARARGS, "Return the terms without a number."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    state->counts = (PyTypeObject *)PyType_FromModuleAndSpec(module, &COUNTS, NULL);
    if (state->counts == NULL || PyModule_AddObjectRef(module, "Counts", (PyObject *)state->counts)) return -1;
    PyObject *type = PyType_FromModuleAndSpec(module, &RUNS, NULL);
    int failed = type == NULL || PyModule_AddObjectRef(module, "Runs", type);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    Py_VISIT(((State *)PyModule_GetState(module))->counts);
    return 0;
}

static int module_clear(PyObject *module)
{
    Py_CLEAR(((State *)PyModule_GetState(module))->counts);
    return 0;
}

static void module_free(void *module) { module_clear(module); }

static PyModuleDef_Slot MODULE_SLOTS[] = {
    {Py_mod_exec, (void *)module_exec},
    {0, NULL},
};

static struct PyModuleDef MODULE = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "twofold._analyzer",
    .m_doc = "The analyzer's loop; twofold.text.analyzer describes it.",
    .m_size = sizeof(State),
    .m_methods = METHODS,
    .m_slots = MODULE_SLOTS,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__analyzer(void)
{
    return PyModuleDef_Init(&MODULE);
}
