"""Training: steps of a network that ends in a loss, and the loop over data."""
import queue
import threading

from heddle import _heddle, arrays


def layers():
    """Layers of Graph.layer(): {name: (operands, its numbers)}."""
    return _heddle.layers()


def prefetch(batches, depth=2):
    """The items of an iterable, made by a thread while the ones before are used; depth: how many wait.
    An exception of the iterable comes out here. Trainer.fit() reads its batches so."""
    ready, over = queue.Queue(depth), threading.Event()

    def put(item):
        while not over.is_set():
            try:
                return ready.put(item, timeout=0.1)
            except queue.Full:
                pass

    def work():
        try:
            for batch in batches:
                put((batch, None))
                if over.is_set():
                    return
            put((None, StopIteration()))
        except BaseException as e:  # pylint: disable=broad-except
            put((None, e))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            batch, error = ready.get()
            if isinstance(error, StopIteration):
                return
            if error:
                raise error
            yield batch
    finally:
        over.set()
        thread.join()


class Trainer:
    """A network in training, with its optimiser.

        t = heddle.Trainer(net, optimizer="adamw", rate=0.01)
        for image, classes in batches:
            print(t.step(image, classes)["loss"])
        t.weights(net)                       # into its constants, for net.save() or quantize()

    net: outputs are a loss and metrics, or logits, which get cross entropy. Optimisers and schedules
    are those of docs/training.md; steps is the length of the schedule. precision: "f16" or "bf16",
    for networks of logits, with loss_scale as the factor of the loss, which doubles after scale_steps
    good steps and halves after a bad one. memory: limit of a step's temporaries, in bytes or "50%".
    """

    def __init__(self, net, optimizer=None, schedule=None, device=None, rate=0.0, steps=0.0,
                 weight_decay=0.0, clip_norm=0.0, warm_up=0.0, threads=0, shards=0, *, momentum=0.0,
                 clip_value=0.0, precision=None, loss_scale=0.0, scale_steps=0.0, memory=None):
        self._training = _heddle.training_open(net._net, optimizer, schedule, device, rate, steps,
                                               weight_decay, clip_norm, warm_up, threads, shards,
                                               momentum, clip_value, precision, loss_scale,
                                               scale_steps, None if memory is None else str(memory))
        self.results = _heddle.training_results(self._training)

    @property
    def steps(self):
        """How many were taken, those of a loaded checkpoint too."""
        return _heddle.training_steps(self._training)

    @property
    def loss_scale(self):
        """The factor of the loss in the next step."""
        return _heddle.training_scale(self._training)[0]

    @property
    def skipped(self):
        """With scale_steps: steps that changed nothing, since a gradient was too large. Else 0."""
        return _heddle.training_scale(self._training)[1]

    def step(self, *inputs):
        """One step on a batch: arrays for the inputs, in their order. A dict of results: the loss is a
        mean, metrics are sums."""
        buffers = tuple(arrays.buffer(x, None) for x in inputs)
        return dict(zip(self.results, _heddle.training_step(self._training, buffers)))

    def fit(self, batches, *calls):
        """A step for each item of an iterable, which a thread reads ahead, and calls(trainer, results) after it; a call that
        returns False ends the loop. The results of the last step."""
        results = {}
        for batch in prefetch(batches):
            results = self.step(*batch)
            if any([call(self, results) is False for call in calls]):
                break
        return results

    def events(self, folder):
        """Results of the steps that follow go to TensorBoard's event file in a folder, which is
        made. It is written every 100 steps, and at the end: events(None)."""
        _heddle.training_events(self._training, folder)

    def weights(self, net):
        """Writes the weights to the constants of a network that have their names."""
        _heddle.training_weights(self._training, net._net)

    def save(self, path):
        """A checkpoint: what follows a load() has the bits of what would have followed here."""
        _heddle.training_save(self._training, path)

    def load(self, path):
        """Goes on from a checkpoint of the same network and optimiser."""
        _heddle.training_load(self._training, path)
