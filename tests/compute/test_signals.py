"""Who hears the signals that ask processes to end."""

import signal
import threading

import pytest

from bliss_framework.compute.signals import signals_put_off


@pytest.fixture
def heard():
    """The signals that this process hears of its own accord."""
    numbers = []
    before = signal.signal(signal.SIGTERM, lambda number, _: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGTERM, before)


def test_signals_are_put_off(heard):
    """A signal within the block is heard after it, by who heard it before and not by who took it over meanwhile."""
    theirs = []
    with signals_put_off():
        signal.raise_signal(signal.SIGTERM)
        assert heard == []
        signal.signal(signal.SIGTERM, lambda number, _: theirs.append(number))
    assert heard == [signal.SIGTERM]
    signal.raise_signal(signal.SIGTERM)
    assert (heard, theirs) == ([signal.SIGTERM] * 2, [])


def test_signals_that_are_ignored_stay_so(heard):
    """What nohup has a process ignore is not heard after the block either."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with signals_put_off():
        signal.raise_signal(signal.SIGTERM)
    assert (heard, signal.getsignal(signal.SIGTERM)) == ([], signal.SIG_IGN)


def test_threads_leave_signals_alone(heard):
    """No thread but the first may say who hears them."""
    done = []

    def in_a_thread():
        with signals_put_off():
            done.append(True)

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    assert done
