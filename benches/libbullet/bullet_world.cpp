// Bullet's own vehicles on a plane, behind functions that Rust can call. World axes as skidpad's: x forward, y left, z up.
// The structs mirror those of src/world.rs.

#include <memory>
#include <vector>

#include <btBulletDynamicsCommon.h>
#include <BulletDynamics/Vehicle/btRaycastVehicle.h>

struct WheelTuning {
    float hard_point[3], direction[3], axle[3];
    float rest_length, radius, stiffness, damping_compression, damping_relaxation, travel, most_force, friction_slip;
    float roll_influence;
};

struct CarTuning {
    float mass, inertia[3], hull_centre[3], hull_half_extents[3];
};

struct Motion {
    float position[3], rotation[4], velocity[3], angular[3];
};

struct WheelInput {
    float engine_force, brake, steering;
};

struct Wheel {
    float length, force, turn;
    int contact;
};

namespace {

btVector3 vector(const float (&from)[3]) { return btVector3(from[0], from[1], from[2]); }

void write(const btVector3& from, float (&to)[3]) {
    for (int i = 0; i < 3; ++i) to[i] = float(from[i]);
}

// Bullet's caster meets the car's own box first and then leaves it out; this one asks static bodies only.
struct StaticCaster : btVehicleRaycaster {
    explicit StaticCaster(btDynamicsWorld& in) : world(in) {}

    void* castRay(const btVector3& from, const btVector3& to, btVehicleRaycasterResult& result) override {
        btCollisionWorld::ClosestRayResultCallback met(from, to);
        met.m_collisionFilterMask = btBroadphaseProxy::StaticFilter;
        world.rayTest(from, to, met);
        const btRigidBody* body = met.hasHit() ? btRigidBody::upcast(met.m_collisionObject) : nullptr;
        if (!body || !body->hasContactResponse()) return nullptr;
        result.m_hitPointInWorld = met.m_hitPointWorld;
        result.m_hitNormalInWorld = met.m_hitNormalWorld.normalized();
        result.m_distFraction = met.m_closestHitFraction;
        return const_cast<btRigidBody*>(body);
    }

    btDynamicsWorld& world;
};

struct Car {
    std::unique_ptr<btBoxShape> box;
    std::unique_ptr<btCompoundShape> hull;
    std::unique_ptr<btRigidBody> body;
    std::unique_ptr<btRaycastVehicle> vehicle;
    bool away = false;
};

}  // namespace

struct World {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld dynamics{&dispatcher, &broadphase, &solver, &configuration};
    std::unique_ptr<btStaticPlaneShape> plane;
    std::unique_ptr<btRigidBody> ground;
    std::unique_ptr<btVehicleRaycaster> caster;
    std::vector<Car> cars;

    void enter(Car& car) {
        dynamics.addRigidBody(car.body.get());
        dynamics.addAction(car.vehicle.get());
    }

    void leave(Car& car) {
        dynamics.removeAction(car.vehicle.get());
        dynamics.removeRigidBody(car.body.get());
    }

    ~World() {
        for (Car& car : cars)
            if (!car.away) leave(car);
        dynamics.removeRigidBody(ground.get());
    }
};

extern "C" {

World* libbullet_new(float gravity, const float* normal, int statics_only) {
    auto world = std::make_unique<World>();
    world->dynamics.setGravity(btVector3(0, 0, -gravity));
    world->plane = std::make_unique<btStaticPlaneShape>(btVector3(normal[0], normal[1], normal[2]), 0);
    world->ground = std::make_unique<btRigidBody>(0, nullptr, world->plane.get());
    world->dynamics.addRigidBody(world->ground.get());
    if (statics_only)
        world->caster = std::make_unique<StaticCaster>(world->dynamics);
    else
        world->caster = std::make_unique<btDefaultVehicleRaycaster>(&world->dynamics);
    return world.release();
}

void libbullet_delete(World* world) { delete world; }

void libbullet_place(World* world, size_t at, const Motion* motion) {
    Car& car = world->cars[at];
    const float* q = motion->rotation;
    const btTransform pose(btQuaternion(q[0], q[1], q[2], q[3]), vector(motion->position));
    car.body->setWorldTransform(pose);
    car.body->setInterpolationWorldTransform(pose);
    car.body->setLinearVelocity(vector(motion->velocity));
    car.body->setAngularVelocity(vector(motion->angular));
    car.body->updateInertiaTensor();
    if (car.away) world->enter(car);
    car.away = false;
}

void libbullet_put(World* world, size_t at, const CarTuning* tuning, const WheelTuning* wheels, size_t count, const Motion* motion) {
    Car car;
    car.box = std::make_unique<btBoxShape>(vector(tuning->hull_half_extents));
    car.hull = std::make_unique<btCompoundShape>();
    car.hull->addChildShape(btTransform(btQuaternion::getIdentity(), vector(tuning->hull_centre)), car.box.get());
    car.body = std::make_unique<btRigidBody>(tuning->mass, nullptr, car.hull.get(), vector(tuning->inertia));
    car.body->setActivationState(DISABLE_DEACTIVATION);
    btRaycastVehicle::btVehicleTuning common;
    car.vehicle = std::make_unique<btRaycastVehicle>(common, car.body.get(), world->caster.get());
    car.vehicle->setCoordinateSystem(1, 2, 0);
    for (size_t i = 0; i < count; ++i) {
        const WheelTuning& from = wheels[i];
        btWheelInfo& wheel = car.vehicle->addWheel(vector(from.hard_point), vector(from.direction), vector(from.axle),
                                                   from.rest_length, from.radius, common, false);
        wheel.m_suspensionStiffness = from.stiffness;
        wheel.m_wheelsDampingCompression = from.damping_compression;
        wheel.m_wheelsDampingRelaxation = from.damping_relaxation;
        wheel.m_maxSuspensionTravelCm = 100 * from.travel;
        wheel.m_maxSuspensionForce = from.most_force;
        wheel.m_frictionSlip = from.friction_slip;
        wheel.m_rollInfluence = from.roll_influence;
        wheel.m_raycastInfo.m_suspensionLength = from.rest_length;
        wheel.m_wheelsSuspensionForce = 0;
    }
    if (at < world->cars.size()) {
        if (!world->cars[at].away) world->leave(world->cars[at]);
        world->cars[at] = std::move(car);
    } else {
        world->cars.push_back(std::move(car));
    }
    world->enter(world->cars[at]);
    libbullet_place(world, at, motion);
}

void libbullet_leave(World* world, size_t at) {
    Car& car = world->cars[at];
    if (!car.away) world->leave(car);
    car.away = true;
}

void libbullet_drive(World* world, size_t at, const WheelInput* inputs) {
    btRaycastVehicle& vehicle = *world->cars[at].vehicle;
    for (int i = 0; i < vehicle.getNumWheels(); ++i) {
        vehicle.applyEngineForce(inputs[i].engine_force, i);
        vehicle.setBrake(inputs[i].brake, i);
        vehicle.setSteeringValue(inputs[i].steering, i);
    }
}

void libbullet_step(World* world, float dt) { world->dynamics.stepSimulation(dt, 0); }

void libbullet_read(const World* world, size_t at, Motion* motion, Wheel* wheels) {
    const Car& car = world->cars[at];
    const btQuaternion turn = car.body->getOrientation();
    write(car.body->getWorldTransform().getOrigin(), motion->position);
    for (int i = 0; i < 4; ++i) motion->rotation[i] = float(turn[i]);
    write(car.body->getLinearVelocity(), motion->velocity);
    write(car.body->getAngularVelocity(), motion->angular);
    for (int i = 0; i < car.vehicle->getNumWheels(); ++i) {
        const btWheelInfo& from = car.vehicle->getWheelInfo(i);
        wheels[i] = {float(from.m_raycastInfo.m_suspensionLength), float(from.m_wheelsSuspensionForce),
                     float(from.m_deltaRotation), from.m_raycastInfo.m_isInContact};
    }
}

}  // extern "C"
