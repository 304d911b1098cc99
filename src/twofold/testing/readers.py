"""What every reader promises, as a suite to be tried on one of your own: in process, and in the process of a sync."""

from twofold.domain.errors import ReadError
from twofold.domain.types import Document
from twofold.ingest.pool import ReaderPool
from twofold.ingest.readers.custom import CustomReader
from twofold.ingest.readers.types import Source

HOSTILE = (
    b"\x00" * 100,
    b"\xff\xfe\xfd" * 100,
    b"<" * 10_000,
    bytes(range(256)) * 16,
    b"\xef\xbb\xbf",
    "漢字".encode("utf-16"),
)


class ReaderContract:
    """Derive a class whose name begins with `Condition` from it, and give it a fixture `reader`.

    `sample` is the content of a file that the reader reads, and `expected` a text that is in it.
    """

    sample = b""
    expected = ""

    def test_the_sample_is_read(self, reader: CustomReader) -> None:
        extract = reader.read(Source("sample" + suffix(reader), self.sample))

        assert self.expected in extract.text
        assert extract.blocks

    def test_blocks_lie_in_the_text_in_order_and_never_overlap(self, reader: CustomReader) -> None:
        extract = reader.read(Source("sample" + suffix(reader), self.sample))
        position = 0
        for block in extract.blocks:
            assert position <= block.start < block.end <= len(extract.text)
            position = block.end

    def test_broken_files_are_read_or_refused(self, reader: CustomReader) -> None:
        for data in (*HOSTILE, self.sample[: len(self.sample) // 2], self.sample * 2):
            try:
                extract = reader.read(Source("broken" + suffix(reader), data))
            except ReadError as error:
                assert error.message
            else:
                assert isinstance(extract.text, str)

    def test_it_reads_in_a_process_of_its_own(self, reader: CustomReader) -> None:
        source = Source("sample" + suffix(reader), self.sample)
        with ReaderPool(own=[reader]) as pool:
            (outcome,) = pool.read_all([source])

        assert isinstance(outcome, Document)
        assert self.expected in outcome.text
        assert outcome.media_type == reader.media_type


def suffix(reader: CustomReader) -> str:
    """Return an ending that the reader takes."""
    return reader.suffixes[0] if reader.suffixes else ""
