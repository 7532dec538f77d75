"""Which experts will be needed soon: predictors behind one interface, for live prefetch and for replay."""

from engine.experts.predictors.blend import *
from engine.experts.predictors.eam import *
from engine.experts.predictors.gates import *
from engine.experts.predictors.predictor import *
from engine.experts.predictors.tables import *
from engine.experts.predictors.trace_view import *
